"""Lists of the service, which read page after page while they are iterated, or come as files and data frames."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar, cast

from .api import Meta, Pagination
from .frames import Decimals, FrameBuilder, join_arrow, join_polars, read_arrow, read_polars
from .http import AsyncHttp, Call, Download, Http, JsonAnswer
from .list_file import FileFormat, FileSink, ListFile

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Row = TypeVar("Row")
Part = TypeVar("Part")


@dataclass(frozen=True)
class Page(Generic[Row]):
    """One page of a list."""

    data: list[Row]
    pagination: Pagination
    meta: Meta


class _List(Generic[Row]):
    """The requests of a list."""

    def __init__(self, path: str, query: Mapping[str, object]) -> None:
        self._path = path
        self._query = query

    def _page_call(self, cursor: str | None) -> Call:
        return Call(self._path, {**self._query, "cursor": cursor})

    def _file_call(self, file_format: str, cursor: str | None) -> Call:
        return Call(self._path, {**self._query, "format": file_format, "cursor": cursor})

    def _next_file(self, file: ListFile | Download) -> str | None:
        """Return the cursor of the next file, unless the query has a limit."""
        return file.next_cursor if self._query.get("limit") is None else None


class Pages(_List[Row]):
    """
    A list of the service. Each row comes once, even while new rows arrive. Each iteration starts from the beginning.
    For iteration ``limit`` is the size of a page; a file or frame has at most ``limit`` rows.
    """

    def __init__(self, http: Http, path: str, query: Mapping[str, object]) -> None:
        super().__init__(path, query)
        self._http = http

    def __iter__(self) -> Iterator[Row]:
        for page in self.pages():
            yield from page.data

    def pages(self) -> Iterator[Page[Row]]:
        """Read page after page."""
        cursor: str | None = None
        while True:
            page = self.page(cursor)
            yield page
            cursor = page.pagination["next_cursor"]
            if cursor is None:
                return

    def page(self, cursor: str | None = None) -> Page[Row]:
        """Read the first page, or the page at a cursor."""
        return _to_page(self._http.json(self._page_call(cursor)))

    def file(self, file_format: FileFormat, *, cursor: str | None = None) -> ListFile:
        """Read the list as a temporary file, up to the row cap of the service, or a ``limit`` of the query."""
        body = _temporary_file()
        try:
            download = self._http.download(self._file_call(file_format, cursor), FileSink(body), file_format)
        except BaseException:
            body.close()
            raise
        return _to_file(download, body)

    def to_pandas(self, *, decimals: Decimals = "decimal") -> pandas.DataFrame:
        """
        Return all rows, or ``limit`` rows, as a frame of pandas. Prices, sizes and other amounts are
        ``decimal.Decimal``, or with ``decimals="scaled"`` 64-bit integers of millionths. Ids are text; integers are
        ``Int64``; times are UTC. Nothing becomes a float.
        """
        builder = FrameBuilder(decimals)
        cursor: str | None = None
        while True:
            download = self._http.download(self._file_call("arrow", cursor), builder, "arrow")
            builder.end()
            cursor = self._next_file(download)
            if cursor is None:
                return builder.finish()

    def to_arrow(self) -> pyarrow.Table:
        """Return all rows, or ``limit`` rows, as a table of pyarrow, with ``decimal128(38, 6)`` amounts."""
        return join_arrow(self._read_parts(read_arrow))

    def to_polars(self) -> polars.DataFrame:
        """Return all rows, or ``limit`` rows, as a frame of Polars, with ``Decimal(38, 6)`` amounts."""
        return join_polars(self._read_parts(read_polars))

    def _read_parts(self, read: Callable[[BinaryIO], Part]) -> list[Part]:
        parts: list[Part] = []
        cursor: str | None = None
        while True:
            with self.file("arrow", cursor=cursor) as file:
                parts.append(read(file.body))
            cursor = self._next_file(file)
            if cursor is None:
                return parts


class AsyncPages(_List[Row]):
    """
    A list of the service. Each row comes once, even while new rows arrive. Each iteration starts from the beginning.
    For iteration ``limit`` is the size of a page; a file or frame has at most ``limit`` rows.
    """

    def __init__(self, http: AsyncHttp, path: str, query: Mapping[str, object]) -> None:
        super().__init__(path, query)
        self._http = http

    async def __aiter__(self) -> AsyncIterator[Row]:
        async for page in self.pages():
            for row in page.data:
                yield row

    async def pages(self) -> AsyncIterator[Page[Row]]:
        """Read page after page."""
        cursor: str | None = None
        while True:
            page = await self.page(cursor)
            yield page
            cursor = page.pagination["next_cursor"]
            if cursor is None:
                return

    async def page(self, cursor: str | None = None) -> Page[Row]:
        """Read the first page, or the page at a cursor."""
        return _to_page(await self._http.json(self._page_call(cursor)))

    async def file(self, file_format: FileFormat, *, cursor: str | None = None) -> ListFile:
        """Read the list as a temporary file, up to the row cap of the service, or a ``limit`` of the query."""
        body = _temporary_file()
        try:
            download = await self._http.download(self._file_call(file_format, cursor), FileSink(body), file_format)
        except BaseException:
            body.close()
            raise
        return _to_file(download, body)

    async def to_pandas(self, *, decimals: Decimals = "decimal") -> pandas.DataFrame:
        """Return the rows as ``Pages.to_pandas`` does."""
        builder = FrameBuilder(decimals)
        cursor: str | None = None
        while True:
            download = await self._http.download(self._file_call("arrow", cursor), builder, "arrow")
            builder.end()
            cursor = self._next_file(download)
            if cursor is None:
                return await asyncio.to_thread(builder.finish)

    async def to_arrow(self) -> pyarrow.Table:
        """Return the rows as ``Pages.to_arrow`` does."""
        return join_arrow(await self._read_parts(read_arrow))

    async def to_polars(self) -> polars.DataFrame:
        """Return the rows as ``Pages.to_polars`` does."""
        return join_polars(await self._read_parts(read_polars))

    async def _read_parts(self, read: Callable[[BinaryIO], Part]) -> list[Part]:
        parts: list[Part] = []
        cursor: str | None = None
        while True:
            with await self.file("arrow", cursor=cursor) as file:
                # Decoding takes seconds for a million rows, in which the event loop goes on.
                parts.append(await asyncio.to_thread(read, file.body))
            cursor = self._next_file(file)
            if cursor is None:
                return parts


def _temporary_file() -> BinaryIO:
    return cast("BinaryIO", tempfile.TemporaryFile())


def _to_page(answer: JsonAnswer) -> Page[Any]:
    rows, pagination, meta = answer.get_page()
    return Page(rows, cast("Pagination", pagination), cast("Meta", meta))


def _to_file(download: Download, body: BinaryIO) -> ListFile:
    body.seek(0)
    return ListFile(download.row_count, download.next_cursor, body)
