"""Sends requests through httpx and repeats them where that can help."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import httpx

from .backoff import Backoff
from .errors import OddwireError, error_class
from .list_file import FileCheck, Sink

#: What a thread is given at a time.
_ASYNC_CHUNK_BYTES = 1 << 20

NO_KEY = "no API key was given: set the parameter key of the client"


@dataclass(frozen=True)
class Options:
    """What the clients are made with."""

    url: str
    key: str | None = None
    backoff: Backoff = field(default_factory=Backoff)
    #: Seconds until an attempt fails. For a file: the longest silence within it.
    timeout: float = 30.0

    def http_settings(self) -> dict[str, Any]:
        """Return the arguments of an httpx client."""
        url = httpx.URL(self.url)
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError(f"not the URL of a service: {self.url!r}; one is http://127.0.0.1:8080")
        headers = {"Accept": "application/json"}
        if self.key is not None:
            headers["X-API-Key"] = self.key
        return {"base_url": self.url.rstrip("/"), "headers": headers, "timeout": self.timeout}


@dataclass(frozen=True)
class Call:
    """One request."""

    path: str
    query: Mapping[str, object] = field(default_factory=dict)
    method: str = "GET"
    body: Mapping[str, object] | None = None
    #: Statuses other than 2xx that are not errors.
    accepted: tuple[int, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of httpx."""
        made: dict[str, Any] = {"method": self.method, "url": self.path, "params": to_params(self.query)}
        if self.body is not None:
            made["json"] = {name: _to_json(value) for name, value in self.body.items() if value is not None}
        return made

    def can_repeat(self, error: OddwireError) -> bool:
        """
        Return whether to retry. Reads can be repeated; other requests only if the service certainly did not execute
        them. A 503 of the service without ``Retry-After`` does not pass on its own; one of a proxy can.
        """
        if error.code == "RATE_LIMITED":
            return True
        passes = error.code == "SERVICE_UNAVAILABLE" and error.retry_after is not None
        is_of_proxy = error.code == "NOT_OURS" and error.status in (502, 503, 504)
        return self.method == "GET" and (passes or is_of_proxy or error.code in ("UNREACHABLE", "INTERNAL_ERROR"))


@dataclass(frozen=True)
class Download:
    """What the headers of a file say."""

    row_count: int
    #: The cursor of the rows beyond the row cap of the service; ``None`` if the file has all.
    next_cursor: str | None


class Http:
    """The requests of a ``Client``."""

    def __init__(self, options: Options, transport: httpx.BaseTransport | None) -> None:
        self.options = options
        self._client = httpx.Client(**options.http_settings(), transport=transport)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def json(self, call: Call) -> Any:
        """Return the body of the answer as JSON."""
        return read_json(self._request(call))

    def data(self, call: Call, kind: type[dict[Any, Any]] | type[list[Any]]) -> Any:
        """Return ``data`` of the answer: a ``dict`` or a ``list`` of them."""
        return read_json(self._request(call)).get_data(kind)

    def text(self, call: Call) -> str:
        """Return the body of the answer as it is."""
        return self._request(call).text

    def download(self, call: Call, sink: Sink, file_format: str) -> Download:
        """Write a file of the service to ``sink``, which begins again after an attempt that failed."""
        for attempt in itertools.count(1):
            try:
                with self._client.stream(**call.arguments()) as response:
                    check = begin_file(response, sink, file_format)
                    if check is None:
                        response.read()
                        raise _read_error(response, self.options.key)
                    for chunk in response.iter_bytes():
                        check.add(chunk)
                        sink.write(chunk)
                    return finish_file(response, check)
            except (httpx.RequestError, OddwireError) as cause:
                time.sleep(_wait_or_raise(call, attempt, _to_error(cause), self.options.backoff))
        raise AssertionError("unreachable")

    def _request(self, call: Call) -> httpx.Response:
        for attempt in itertools.count(1):
            try:
                response = self._client.request(**call.arguments())
                raise_for_error(response, call, self.options.key)
                return response
            except (httpx.RequestError, OddwireError) as cause:
                time.sleep(_wait_or_raise(call, attempt, _to_error(cause), self.options.backoff))
        raise AssertionError("unreachable")


class AsyncHttp:
    """The requests of an ``AsyncClient``."""

    def __init__(self, options: Options, transport: httpx.AsyncBaseTransport | None) -> None:
        self.options = options
        self._client = httpx.AsyncClient(**options.http_settings(), transport=transport)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def json(self, call: Call) -> Any:
        """Return the body of the answer as JSON."""
        return read_json(await self._request(call))

    async def data(self, call: Call, kind: type[dict[Any, Any]] | type[list[Any]]) -> Any:
        """Return ``data`` of the answer: a ``dict`` or a ``list`` of them."""
        return read_json(await self._request(call)).get_data(kind)

    async def text(self, call: Call) -> str:
        """Return the body of the answer as it is."""
        return (await self._request(call)).text

    async def download(self, call: Call, sink: Sink, file_format: str) -> Download:
        """Write a file of the service to ``sink``, which begins again after an attempt that failed."""
        for attempt in itertools.count(1):
            try:
                async with self._client.stream(**call.arguments()) as response:
                    check = begin_file(response, sink, file_format)
                    if check is None:
                        await response.aread()
                        raise _read_error(response, self.options.key)
                    async for chunk in response.aiter_bytes(_ASYNC_CHUNK_BYTES):
                        check.add(chunk)
                        # Decoding takes seconds for a million rows, in which the event loop goes on.
                        await asyncio.to_thread(sink.write, chunk)
                    return finish_file(response, check)
            except (httpx.RequestError, OddwireError) as cause:
                await asyncio.sleep(_wait_or_raise(call, attempt, _to_error(cause), self.options.backoff))
        raise AssertionError("unreachable")

    async def _request(self, call: Call) -> httpx.Response:
        for attempt in itertools.count(1):
            try:
                response = await self._client.request(**call.arguments())
                raise_for_error(response, call, self.options.key)
                return response
            except (httpx.RequestError, OddwireError) as cause:
                await asyncio.sleep(_wait_or_raise(call, attempt, _to_error(cause), self.options.backoff))
        raise AssertionError("unreachable")


def segment(value: object) -> str:
    """Return a value as one segment of a path. Without an empty one, or dots, the URL is that of another endpoint."""
    text = str(value)
    if text in ("", ".", ".."):
        raise error_class("VALIDATION_ERROR")(f"{text!r} is not an id", code="VALIDATION_ERROR")
    return quote(text, safe="")


def to_params(query: Mapping[str, object]) -> dict[str, str]:
    """Return the values of a query string. ``None`` is left out; lists are joined with commas."""
    return {name: _to_text(value) for name, value in query.items() if value is not None}


def _to_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ",".join(_to_text(one) for one in value)
    return str(_to_json(value))


def _to_json(value: object) -> object:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(
                f"a time without a time zone is ambiguous: {value!r}; use datetime(..., tzinfo=timezone.utc)"
            )
        return value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    return value


class JsonAnswer(dict[str, Any]):
    """The body of an answer. Raises ``NotOddwireError`` for a field that is missing."""

    def __init__(self, fields: dict[str, Any], response: httpx.Response) -> None:
        """Take the fields, and the answer that they are from."""
        super().__init__(fields)
        self._response = response

    def __missing__(self, name: str) -> Any:
        """Refuse the answer: every answer of the service has the fields that are read."""
        raise _not_ours(self._response)

    def get_page(self) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
        """Return the rows, pagination and ``meta`` of a page."""
        rows, pagination, meta = self.get_data(list), self["pagination"], self["meta"]
        are_objects = isinstance(pagination, dict) and isinstance(meta, dict)
        cursor = pagination.get("next_cursor", 0) if are_objects else 0
        if not (cursor is None or isinstance(cursor, str)):
            raise _not_ours(self._response)
        return rows, pagination, meta

    def get_data(self, kind: type[dict[Any, Any]] | type[list[Any]]) -> Any:
        """Return ``data``. Raises ``NotOddwireError`` if it is not a ``dict``, or a ``list`` of them."""
        data: Any = self["data"]
        if not (isinstance(data, kind) and (kind is dict or all(isinstance(row, dict) for row in data))):
            raise _not_ours(self._response)
        return data


def read_json(response: httpx.Response) -> JsonAnswer:
    """Return the body of an answer. Raises ``NotOddwireError`` if it is not a JSON object."""
    try:
        answer = response.json()
    except (ValueError, RecursionError) as cause:
        raise _not_ours(response) from cause
    if not isinstance(answer, dict):
        raise _not_ours(response)
    return JsonAnswer(answer, response)


def raise_for_error(response: httpx.Response, call: Call, key: str | None) -> None:
    """Raise the error of an answer, if it is one."""
    if not response.is_success and response.status_code not in call.accepted:
        raise _read_error(response, key)


def begin_file(response: httpx.Response, sink: Sink, file_format: str) -> FileCheck | None:
    """Begin the file and return the check of the body; ``None`` if the answer is an error."""
    if not response.is_success:
        return None
    count = response.headers.get("X-Row-Count")
    if count is None or not count.isdecimal():
        raise _not_ours(response)
    sink.begin()
    return FileCheck(file_format, int(count))


def finish_file(response: httpx.Response, check: FileCheck) -> Download:
    """Check that a file is whole."""
    check.finish()
    return Download(check.row_count, response.headers.get("X-Next-Cursor"))


def _read_error(response: httpx.Response, key: str | None) -> OddwireError:
    try:
        error = json.loads(response.text)["error"]
        code, message, details = error["code"], error["message"], error.get("details") or []
        if not (isinstance(code, str) and isinstance(message, str) and isinstance(details, list)):
            return _not_ours(response)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _not_ours(response)
    return error_class(code)(
        NO_KEY if response.status_code == 401 and key is None else message,
        status=response.status_code,
        code=code,
        details=details,
        request_id=error.get("request_id"),
        retry_after=_seconds(response.headers.get("Retry-After")),
    )


def _seconds(header: str | None) -> float | None:
    return float(header) if header is not None and header.isascii() and header.isdigit() else None


def _not_ours(response: httpx.Response) -> OddwireError:
    content = response.headers.get("Content-Type", "nothing")
    message = f"the answer of {response.url} ({response.status_code}, {content}) is not from the service"
    wait = _seconds(response.headers.get("Retry-After"))
    return error_class("NOT_OURS")(message, status=response.status_code, code="NOT_OURS", retry_after=wait)


def _to_error(cause: httpx.RequestError | OddwireError) -> OddwireError:
    if isinstance(cause, OddwireError):
        return cause
    what = f"{cause.request.url.copy_with(query=None)} did not answer, or not completely"
    error = error_class("UNREACHABLE")(f"{what} ({type(cause).__name__}: {cause})")
    error.__cause__ = cause
    return error


def _wait_or_raise(call: Call, attempt: int, error: OddwireError, backoff: Backoff) -> float:
    wait = backoff.wait_after(attempt, error.retry_after) if call.can_repeat(error) else None
    if wait is None:
        raise error
    return wait
