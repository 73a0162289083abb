"""The stream: events of one channel that survive lost connections, restarts and reorgs."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import websockets
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from .backoff import Backoff
from .errors import error_class
from .http import NO_KEY, Options

Frame = TypeVar("Frame")
StreamState = Literal["connecting", "replaying", "live"]

#: Clients of a restarting service reconnect within this many seconds, at random.
_DRAIN_SPREAD = 10.0
_BAD_KEY, _DRAINING, _POLICY, _BROKEN = 4001, 4003, 4008, 1006
_OPEN_TIMEOUT = 20.0
#: Missing heartbeats after which a connection counts as broken.
_MISSED_HEARTBEATS = 2.5
#: Errors of a subscription that are temporary.
_PASSING = frozenset({"SERVICE_UNAVAILABLE", "RATE_LIMITED", "IP_BLOCKED"})
#: What a refused upgrade means, by its HTTP status. Others are not from the service, unless they are temporary.
_REFUSALS = {400: "VALIDATION_ERROR", 401: "UNAUTHORIZED", 403: "IP_BLOCKED"}
_PASSING_STATUSES = frozenset({0, 408, 425, 429, *range(500, 600)})


#: The name is the same in all versions, but checkers of types do not find it in each.
_connect: Any = getattr(websockets, "connect")  # noqa: B009


class _Closing(NamedTuple):
    code: int
    reason: str


class _LostFrameError(Exception):
    """A frame is missing. The next subscription repairs that."""


class Stream(Generic[Frame]):
    """
    The frames of one channel, without an end: ``async for frame in stream``. The stream reconnects and resumes
    after the last event, so that none is missing and none comes twice. Only a ``reorg`` frame takes events back: those
    with a ``seq`` above ``rewind_to_seq``.

    Raises ``OddwireError`` when a new connection cannot help, as with a revoked key; and when the service refuses to
    begin, on all attempts of the backoff, because it has not indexed the position to resume from.
    """

    def __init__(
        self,
        options: Options,
        channel: Mapping[str, object],
        *,
        resume_from: int | None = None,
        position_file: str | os.PathLike[str] | None = None,
        snapshot: int | None = None,
        allow_gap: bool = False,
        on_state: Callable[[StreamState], None] | None = None,
        is_sound: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> None:
        self._options = options
        self._channel = {name: value for name, value in channel.items() if value is not None}
        self._snapshot = snapshot
        self._allow_gap = allow_gap
        self._on_state = on_state
        self._is_sound = is_sound
        self._file = None if position_file is None else Path(position_file)
        self._saved = _read_position(self._file)
        self._position = resume_from if self._saved is None else self._saved
        self._failures = 0
        #: The refusals of a stream that has never begun; ``None`` once it has.
        self._refusals: int | None = 0
        self._silence = _OPEN_TIMEOUT

    @property
    def position(self) -> int | None:
        """Where a later stream resumes, after the last frame; ``None`` before the first one."""
        return self._position

    def save(self) -> None:
        """
        Save the position in the position file. The stream does so whenever the next frame is requested, so that a
        crash repeats at most the frame that was being handled. Call it to leave the loop after a frame is handled.
        """
        if self._file is None or self._position == self._saved:
            return
        new = self._file.with_name(f"{self._file.name}.new")
        new.write_text(f"{self._position}\n")
        os.replace(new, self._file)
        self._saved = self._position

    async def __aiter__(self) -> AsyncIterator[Frame]:
        while True:
            async with aclosing(self._follow()) as frames:
                async for frame in frames:
                    yield frame
                    # Outside of what handles a lost connection: an error of the disk is for the caller.
                    self.save()

    async def _follow(self) -> AsyncGenerator[Frame, None]:
        """Yield the frames of one connection, until it is lost and the next one may begin."""
        self._report("connecting")
        closing = _Closing(_BROKEN, "a frame is missing")
        try:
            socket = await _connect(self._url(), max_size=None, open_timeout=_OPEN_TIMEOUT)
            try:
                if self._options.key is not None:
                    await socket.send(json.dumps({"action": "auth", "api_key": self._options.key}))
                await socket.send(json.dumps(self._subscribe_frame()))
                async for frame in self._read(socket):
                    yield frame
            finally:
                # A closing handshake would wait in vain in a program that ends.
                socket.transport.abort()
        except ConnectionClosed as closed:
            closing = _Closing(_BROKEN, "") if closed.rcvd is None else _Closing(closed.rcvd.code, closed.rcvd.reason)
        except InvalidHandshake as refused:
            _raise_refusal(refused)
        except (OSError, TimeoutError, _LostFrameError):
            pass
        except (InvalidURI, ValueError, LookupError, TypeError) as cause:
            message = f"{self._options.url} does not send the frames of the service"
            raise error_class("NOT_OURS")(message, code="NOT_OURS") from cause
        await asyncio.sleep(self._wait_after(closing))

    async def _read(self, socket: Any) -> AsyncIterator[Frame]:
        """Yield the frames of one connection that are meant for the reader."""
        while True:
            received = json.loads(await asyncio.wait_for(socket.recv(), self._silence))
            for frame in received if isinstance(received, list) else [received]:
                if self._take(frame):
                    yield frame

    def _url(self) -> str:
        return f"ws{self._options.url.rstrip('/')[len('http') :]}/v1/stream?batch=1"

    def _resume_from(self) -> int | None:
        """Return the position to resume from. Order books have no history and come as a whole."""
        return None if self._channel["type"] == "orderbook" else self._position

    def _subscribe_frame(self) -> dict[str, object]:
        frame: dict[str, object] = {"action": "subscribe", "channel": self._channel}
        resume_from = self._resume_from()
        if resume_from is not None:
            frame["resume_from"] = resume_from
            if self._allow_gap:
                frame["allow_gap"] = True
        if self._snapshot is not None:
            frame["snapshot"] = self._snapshot
        return frame

    def _take(self, frame: dict[str, Any]) -> bool:
        """Follow the position. Return whether the frame is for the reader. Raises if a frame is missing."""
        kind = frame["type"]
        if kind == "welcome":
            self._silence = _MISSED_HEARTBEATS * frame["heartbeat_seconds"]
        elif kind == "error":
            self._refuse(frame["error"])
        elif kind == "subscribed":
            resume_from = self._resume_from()
            self._refusals = None
            self._report("live" if resume_from is None else "replaying")
            self._position = frame["seq"] if resume_from is None else resume_from
        elif kind == "event":
            if frame["prev_seq"] != self._position:
                raise _LostFrameError
            self._position = frame["seq"]
            self._failures = 0
        elif kind == "reorg":
            self._position = frame["rewind_to_seq"]
        elif kind == "snapshot":
            self._snapshot = None
            self._position = frame["seq"]
        elif kind == "replay_complete":
            self._report("live")
        elif kind in ("heartbeat", "finalized"):
            # The connection works, even if the channel is quiet.
            self._failures = 0
        if kind in ("event", "snapshot") and self._is_sound is not None and not self._is_sound(frame):
            raise _LostFrameError
        return kind in ("event", "snapshot", "reorg", "replay_complete", "heartbeat", "finalized")

    def _refuse(self, error: Mapping[str, Any]) -> None:
        code = error["code"]
        if code == "SERVICE_UNAVAILABLE" and self._refusals is not None:
            self._refusals += 1
        if code in _PASSING and (self._refusals or 0) < self._options.backoff.attempts:
            raise _LostFrameError
        message = NO_KEY if code == "UNAUTHORIZED" and self._options.key is None else error["message"]
        raise error_class(code)(
            message, code=code, details=error.get("details") or (), request_id=error.get("request_id")
        )

    def _wait_after(self, closing: _Closing) -> float:
        """Return the seconds before the next connection. Raises if a new connection cannot help."""
        if closing.code in (_BAD_KEY, _POLICY):
            code = "UNAUTHORIZED" if closing.code == _BAD_KEY else "VALIDATION_ERROR"
            raise error_class(code)(closing.reason, status=closing.code, code=code)
        self._failures += 1
        if closing.code == _DRAINING:
            return random.uniform(0, _DRAIN_SPREAD)
        backoff: Backoff = self._options.backoff
        return backoff.doubled(self._failures)

    def _report(self, state: StreamState) -> None:
        if self._on_state is not None:
            self._on_state(state)


class RowSet:
    """The rows of a stream with its reorgs applied: they equal those that the lists return."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Any]] = {}

    def take(self, frame: Mapping[str, Any]) -> None:
        """Apply a frame."""
        if frame["type"] == "event":
            self._add(frame["data"])
        elif frame["type"] == "snapshot":
            for row in frame["data"]:
                self._add(row)
        elif frame["type"] == "reorg":
            self._rows = {key: row for key, row in self._rows.items() if row["seq"] <= frame["rewind_to_seq"]}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows in the order of the chain."""
        return sorted(self._rows.values(), key=lambda row: (row["seq"], row["id"]))

    def _add(self, row: dict[str, Any]) -> None:
        self._rows[row["id"]] = row


def _read_position(file: Path | None) -> int | None:
    """Return the position in a file; ``None`` without a file. Raises ``ValueError`` if it is not a position."""
    if file is None or not file.exists():
        return None
    text = file.read_text(errors="replace").strip()
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ValueError(f"{file} has no position: {text[:40]!r}")
    return int(text)


def _raise_refusal(refused: Exception) -> None:
    """Raise the error of an upgrade that will be refused again."""
    response = getattr(refused, "response", None)
    status = getattr(response if response is not None else refused, "status_code", 0)
    if status not in _PASSING_STATUSES:
        code = _REFUSALS.get(status, "NOT_OURS")
        message = f"the service refused the stream (HTTP {status})"
        raise error_class(code)(message, status=status, code=code) from refused
