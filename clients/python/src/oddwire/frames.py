"""Data frames from the Arrow files of the service."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: How amounts come: as ``decimal.Decimal``, or as 64-bit integers of millionths.
Decimals = Literal["decimal", "scaled"]


class FrameBuilder:
    """Makes one frame of pandas from Arrow files, while they are read."""

    def __init__(self, decimals: Decimals) -> None:
        if decimals not in ("decimal", "scaled"):
            raise ValueError(f'decimals is "decimal" or "scaled", not {decimals!r}')
        self._columns = _load("arrow_columns", "pandas").Columns(decimals)

    def begin(self) -> None:
        """Begin a file, in place of one that broke off."""
        self._columns.begin()

    def write(self, chunk: bytes) -> None:
        """Add the next bytes of the file."""
        self._columns.add(chunk)

    def end(self) -> None:
        """Keep the rows of the file, which is whole."""
        self._columns.end()
        self._columns.begin()

    def finish(self) -> pandas.DataFrame:
        """Return the frame."""
        frame: pandas.DataFrame = self._columns.to_frame()
        return frame


def read_arrow(body: BinaryIO) -> pyarrow.Table:
    """Read a file as a table of pyarrow."""
    return _load("pyarrow.ipc", "arrow").open_stream(body).read_all()


def join_arrow(tables: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """Join the tables of several files."""
    return _load("pyarrow", "arrow").concat_tables(tables)


def read_polars(body: BinaryIO) -> polars.DataFrame:
    """Read a file as a frame of Polars."""
    return _load("polars", "polars").read_ipc_stream(body)


def join_polars(frames: Sequence[polars.DataFrame]) -> polars.DataFrame:
    """Join the frames of several files."""
    return _load("polars", "polars").concat(frames)


def _load(module: str, extra: str) -> Any:
    """Import what an extra of the package installs. Raises ``ImportError`` that names the extra."""
    try:
        return importlib.import_module(f".{module}" if module == "arrow_columns" else module, __package__)
    except ImportError as cause:
        raise ImportError(f"{cause}: install it with pip install 'oddwire[{extra}]'") from cause
