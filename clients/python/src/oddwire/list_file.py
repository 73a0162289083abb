"""Lists as files: whether one is whole, and the temporary file that holds it."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Literal, Protocol

from .errors import error_class

FileFormat = Literal["ndjson", "csv", "parquet", "arrow"]

#: Parquet files end with these bytes.
_PARQUET_END = b"PAR1"
#: The end-of-stream message of Arrow IPC.
_ARROW_END = b"\xff\xff\xff\xff\0\0\0\0"


class FileCheck:
    """
    Checks that a file is whole: text by its rows, Parquet and Arrow by their ends. Behind some proxies a body that
    breaks off looks like one that ends.
    """

    def __init__(self, file_format: str, row_count: int) -> None:
        self._format = file_format
        self.row_count = row_count
        self._lines = 0
        self._is_quoted = False
        self._end = b""

    def add(self, chunk: bytes) -> None:
        """Add the next bytes of the file."""
        self._end = (self._end + chunk)[-8:] if len(chunk) < 8 else chunk[-8:]
        if self._format == "ndjson":
            self._lines += chunk.count(b"\n")
        elif self._format == "csv":
            self._count_records(chunk)

    def finish(self) -> None:
        """Raise ``UnreachableError`` if the file is not whole."""
        if not self._is_whole():
            raise error_class("UNREACHABLE")(f"the file of {self.row_count} rows broke off")

    def _is_whole(self) -> bool:
        if self._format == "parquet":
            return self._end.endswith(_PARQUET_END)
        if self._format == "arrow":
            return self._end == _ARROW_END
        lines = self.row_count + 1 if self._format == "csv" else self.row_count
        return self._end[-1:] in (b"", b"\n") and not self._is_quoted and self._lines == lines

    def _count_records(self, chunk: bytes) -> None:
        """Count line ends outside of quotes."""
        for index, part in enumerate(chunk.split(b'"')):
            if index > 0:
                self._is_quoted = not self._is_quoted
            if not self._is_quoted:
                self._lines += part.count(b"\n")


class Sink(Protocol):
    """Takes the bytes of a file while they arrive."""

    def begin(self) -> None:
        """Begin the file, or begin it again after an attempt that failed."""

    def write(self, chunk: bytes) -> None:
        """Take the next bytes."""


class FileSink:
    """Writes to an open file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def begin(self) -> None:
        """Empty the file."""
        self._file.seek(0)
        self._file.truncate()

    def write(self, chunk: bytes) -> None:
        """Write the next bytes."""
        self._file.write(chunk)


@dataclass(frozen=True)
class ListFile:
    """A list, or a part of it, in a temporary file that is deleted when it is closed."""

    row_count: int
    #: The cursor of the rows beyond the row cap of the service; ``None`` if the file has all.
    next_cursor: str | None
    body: BinaryIO

    def close(self) -> None:
        """Delete the file."""
        self.body.close()

    def __enter__(self) -> ListFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
