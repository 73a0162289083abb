"""The stream against the real service, and its position file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import websockets

import oddwire
from conftest import FAST, Service
from oddwire import AsyncClient, Backoff, RowSet
from scripted_server import Answer, scripted_server

#: The name is the same in all versions, but checkers of types do not find it in each.
serve: Any = getattr(websockets, "serve")  # noqa: B009


async def replay(service: Service, file: Path | None, *, frames: int | None = None) -> list[Any]:
    """Return the frames from the position on, up to the end of the replay or a number of them."""
    read: list[Any] = []
    async with AsyncClient(service.url, service.read_key, backoff=FAST) as client:
        stream = client.stream({"type": "trades"}, resume_from=0, position_file=file)
        async for frame in stream:
            read.append(frame)
            if len(read) == frames or frame["type"] == "replay_complete":
                stream.save()
                return read
    raise AssertionError("a stream does not end")


def test_the_rows_of_a_replay_equal_the_list(service: Service, client: oddwire.Client) -> None:
    rows = RowSet()
    for frame in asyncio.run(replay(service, None)):
        rows.take(frame)
    assert rows.rows == list(client.trades(order="asc", limit=1000))


def test_a_stream_goes_on_after_its_position_file(service: Service, client: oddwire.Client, tmp_path: Path) -> None:
    file = tmp_path / "position"
    first = asyncio.run(replay(service, file, frames=700))
    assert file.read_text() == f"{first[-1]['seq']}\n"
    rest = asyncio.run(replay(service, file))
    ids = [frame["data"]["id"] for frame in [*first, *rest] if frame["type"] == "event"]
    assert ids == [row["id"] for row in client.trades(order="asc", limit=1000)]


@pytest.mark.parametrize("text", [b"", b"not a number", b"-5", "\u00b2".encode(), b"\xff\xfe", b"7" * 5000])
def test_a_damaged_position_file_is_refused(service: Service, tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "position"
    file.write_bytes(text)
    with pytest.raises(ValueError, match="position has no position"):
        asyncio.run(replay(service, file))


def test_a_folder_in_place_of_a_position_file_is_refused(service: Service, tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        asyncio.run(replay(service, tmp_path))


def test_a_position_after_the_newest_block_is_refused(service: Service, client: oddwire.Client) -> None:
    newest = client.trades(limit=1).page().meta["indexed_seq"]
    assert newest is not None
    ahead = newest + 10_000_000

    async def follow() -> None:
        async with AsyncClient(service.url, service.read_key, backoff=Backoff(attempts=1)) as client:
            async for _ in client.stream({"type": "trades"}, resume_from=ahead):
                pass

    with pytest.raises(oddwire.ServiceUnavailableError, match="resume_from is not indexed yet"):
        asyncio.run(follow())


def test_a_wrong_key_ends_a_stream(service: Service) -> None:
    with pytest.raises(oddwire.AuthenticationError):
        asyncio.run(replay(Service(service.url, "ow_read_wrong", "", ""), None))


def test_an_invalid_channel_ends_a_stream(service: Service) -> None:
    async def follow() -> None:
        async with AsyncClient(service.url, service.read_key, backoff=FAST) as client:
            async for _ in client.stream({"type": "weather"}):
                pass

    with pytest.raises(oddwire.InvalidRequestError):
        asyncio.run(follow())


def test_a_position_that_cannot_be_saved_ends_a_stream(service: Service, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        asyncio.run(replay(service, tmp_path / "missing" / "position"))


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b"<html>", {"Content-Type": "text/html"}),
        Answer(302, b"", {"Location": "http://127.0.0.1:1/"}),
        Answer(404, b""),
        Answer(426, b""),
    ],
)
def test_something_else_than_the_service_ends_a_stream(answer: Answer) -> None:
    with scripted_server(Answer(503, b""), answer) as server:
        with pytest.raises(oddwire.NotOddwireError):
            asyncio.run(replay(Service(server.url.replace("http", "HTTP"), "key", "", ""), None))
        assert len(server.requests) == 2


@pytest.mark.parametrize("frame", ["<html>", "{}", '{"type":"event"}', "5"])
def test_frames_of_something_else_end_a_stream(frame: str) -> None:
    async def answer(socket: Any, *_: object) -> None:
        await socket.send(frame)
        await socket.wait_closed()

    async def follow() -> None:
        async with serve(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            await replay(Service(f"http://127.0.0.1:{port}", "key", "", ""), None)

    with pytest.raises(oddwire.NotOddwireError):
        asyncio.run(follow())


def test_a_reorg_takes_rows_back() -> None:
    rows = RowSet()
    for seq in (5, 6, 7):
        rows.take({"type": "event", "data": {"id": str(seq), "seq": seq}})
    rows.take({"type": "reorg", "rewind_to_seq": 5, "reverted": ["6", "7"]})
    rows.take({"type": "event", "data": {"id": "6b", "seq": 6}})
    assert [row["id"] for row in rows.rows] == ["5", "6b"]
