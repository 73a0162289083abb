"""
Reads Arrow IPC streams into pandas: those column types that the service sends, straight into exact pandas types.

pyarrow is not needed for this; flatbuffers reads the metadata of the messages, numpy the buffers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterator
from decimal import Context, Decimal
from typing import Any, NamedTuple

import flatbuffers.number_types as numbers
import numpy as np
import pandas as pd
from flatbuffers.table import Table

_SCHEMA, _RECORD_BATCH = 1, 3
_INT, _UTF8, _BOOL, _DECIMAL, _TIMESTAMP = 2, 5, 6, 7, 10
#: Distinct texts of a column that are remembered, so that equal ones share their memory.
_SHARED_TEXTS_MAX = 1 << 16
#: A column with more texts than this in a batch, all different, is taken for one without equal texts.
_SHARED_ROWS_MIN = 1000
#: More digits than a 128-bit integer has, so that no product is rounded.
_EXACT = Context(prec=60)

Array = Any


class _Field(NamedTuple):
    name: str
    kind: int
    #: The fractional digits of a decimal.
    scale: int


class Columns:
    """The columns of a frame, batch by batch, from streams that follow each other."""

    def __init__(self, decimals: str) -> None:
        self._decimals = decimals
        self._fields: list[_Field] | None = None
        self._parts: list[list[Array]] = []
        #: The batches of whole streams.
        self._kept = 0
        #: The distinct texts of each column; ``None`` for a column without equal ones.
        self._texts: list[dict[str, str] | None] = []
        self.begin()

    def begin(self) -> None:
        """Begin a stream, in place of one that broke off."""
        for parts in self._parts:
            del parts[self._kept :]
        self._bytes = bytearray()
        self._needed = next(reader := self._read())
        self._reader = reader
        self._has_ended = False

    def add(self, chunk: bytes) -> None:
        """Add the next bytes of a stream. Raises ``ValueError`` if it is not one, or has other columns."""
        self._bytes += chunk
        while len(self._bytes) >= self._needed and not self._has_ended:
            part = bytes(memoryview(self._bytes)[: self._needed])
            del self._bytes[: self._needed]
            try:
                self._needed = self._reader.send(part)
            except StopIteration:
                self._has_ended = True

    def end(self) -> None:
        """End a stream. Raises ``ValueError`` if it is not whole."""
        if not self._has_ended or self._bytes:
            raise ValueError("the stream of Arrow IPC ended early, or not at its end")
        self._kept = len(self._parts[0]) if self._parts else 0

    def _read(self) -> Generator[int, bytes, None]:
        """Read the messages of a stream. Yields how many bytes it needs next, and is sent these."""
        while True:
            mark, size = struct.unpack("<Ii", (yield 8))
            if mark != 0xFFFF_FFFF or size < 0:
                raise ValueError("not a stream of Arrow IPC")
            if size == 0:
                return
            kind, header, length = _read_message((yield size))
            data = memoryview((yield length))
            if kind == _SCHEMA:
                self._begin_columns([_read_field(field) for field in _tables(header, 1)])
            elif kind == _RECORD_BATCH:
                self._add_batch(header, data)
            else:
                raise ValueError(f"an Arrow message of type {kind} is not supported")

    def to_frame(self) -> pd.DataFrame:
        """Return the frame. Releases the parts of each column as it is joined."""
        if self._fields is None:
            raise ValueError("there is no schema")
        columns: dict[str, Array] = {}
        for index, field in enumerate(self._fields):
            parts, self._parts[index] = self._parts[index], []
            columns[field.name] = self._join(field, parts)
        return pd.DataFrame(columns, copy=False)

    def _begin_columns(self, fields: list[_Field]) -> None:
        if self._fields is None:
            self._fields = fields
            self._parts = [[] for _ in fields]
            self._texts = [{} for _ in fields]
        elif fields != self._fields:
            raise ValueError("the columns changed between two files")

    def _add_batch(self, header: Table, data: memoryview) -> None:
        if self._fields is None or header.Offset(_slot(3)):
            raise ValueError("a batch without a schema, or a compressed one, is not supported")
        rows = header.Get(numbers.Int64Flags, header.Offset(_slot(0)) + header.Pos)
        buffers = iter(_structs(header, 2))
        for index, field in enumerate(self._fields):
            valid = _valid(_buffer(data, next(buffers)), rows)
            if field.kind == _UTF8:
                offsets = np.frombuffer(_buffer(data, next(buffers)), "<i4", rows + 1 if rows else 0)
                part = self._read_texts(_buffer(data, next(buffers)), offsets, index)
            else:
                part = self._read_values(field, _buffer(data, next(buffers)), rows)
            self._parts[index].append((part, valid))

    def _read_values(self, field: _Field, data: memoryview, rows: int) -> Array:
        if field.kind == _BOOL:
            return np.unpackbits(np.frombuffer(data, np.uint8), count=rows, bitorder="little").astype(bool)
        if field.kind == _DECIMAL:
            words = np.frombuffer(data, "<i8", 2 * rows)
            return self._read_decimals(field, words[0::2], words[1::2])
        return np.frombuffer(data, "<i8", rows).copy()

    def _read_decimals(self, field: _Field, low: Array, high: Array) -> Array:
        fits = bool((high == low >> 63).all())
        if self._decimals == "scaled":
            if not fits:
                raise OverflowError(f'{field.name} has an amount above 64 bits: use decimals="decimal"')
            return low.copy()
        unit = Decimal(1).scaleb(-field.scale)
        multiply: Callable[[int, Decimal], Decimal] = _EXACT.multiply
        if fits:
            values, places = np.unique(low, return_inverse=True)
            return _to_objects([multiply(value, unit) for value in values.tolist()])[places]
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return _to_objects([multiply((h << 64) + (word & 0xFFFF_FFFF_FFFF_FFFF), unit) for word, h in pairs])

    def _read_texts(self, data: memoryview, offsets: Array, index: int) -> Array:
        runs = _find_runs(data, offsets)
        if runs is not None:
            starts, lengths = runs
            texts = _slice_texts(data, offsets[starts].tolist(), offsets[starts + 1].tolist())
            return np.repeat(_to_objects(texts), lengths)
        ends = offsets.tolist()
        texts = _slice_texts(data, ends[:-1], ends[1:])
        shared = self._texts[index]
        if shared is None:
            return _to_objects(texts)
        if len(shared) >= _SHARED_TEXTS_MAX:
            shared.clear()
        before = len(shared)
        texts = list(map(shared.setdefault, texts, texts))
        if len(shared) - before == len(texts) > _SHARED_ROWS_MIN:
            self._texts[index] = None
        return _to_objects(texts)

    def _join(self, field: _Field, parts: list[Array]) -> Array:
        if not parts:
            parts = [
                (np.empty(0, object if self._is_object(field) else bool if field.kind == _BOOL else np.int64), None)
            ]
        values = np.concatenate([part for part, _ in parts])
        missing = np.concatenate([np.zeros(len(part), bool) if valid is None else ~valid for part, valid in parts])
        if self._is_object(field):
            values[missing] = None
            return values
        if field.kind == _BOOL:
            return pd.arrays.BooleanArray(values, missing)
        if field.kind == _TIMESTAMP:
            times = values.view("datetime64[ms]").astype("datetime64[ns]")
            times[missing] = np.datetime64("NaT")
            return pd.Series(times).dt.tz_localize("UTC")
        return pd.arrays.IntegerArray(values, missing)

    def _is_object(self, field: _Field) -> bool:
        return field.kind == _UTF8 or (field.kind == _DECIMAL and self._decimals == "decimal")


def _read_message(metadata: bytes) -> tuple[int, Table, int]:
    """Return the type and the header of a message, and the bytes of its body."""
    message = Table(metadata, struct.unpack_from("<I", metadata)[0])
    header = Table(metadata, 0)
    message.Union(header, message.Offset(_slot(2)))
    length = message.Offset(_slot(3))
    size = message.Get(numbers.Int64Flags, length + message.Pos) if length else 0
    return message.Get(numbers.Uint8Flags, message.Offset(_slot(1)) + message.Pos), header, size


def _read_field(field: Table) -> _Field:
    name = bytes(field.String(field.Offset(_slot(0)) + field.Pos)).decode()
    kind = int(field.Get(numbers.Uint8Flags, field.Offset(_slot(2)) + field.Pos))
    shape = Table(field.Bytes, 0)
    field.Union(shape, field.Offset(_slot(3)))
    if kind == _DECIMAL:
        scale = shape.Offset(_slot(1))
        return _Field(name, kind, int(shape.Get(numbers.Int32Flags, scale + shape.Pos)) if scale else 0)
    width = shape.Offset(_slot(0)) if kind == _INT else 0
    is_wide = kind != _INT or (width and shape.Get(numbers.Int32Flags, width + shape.Pos) == 64)
    unit = shape.Offset(_slot(0)) if kind == _TIMESTAMP else 0
    is_in_ms = kind != _TIMESTAMP or (unit and shape.Get(numbers.Int16Flags, unit + shape.Pos) == 1)
    if kind not in (_INT, _UTF8, _BOOL, _TIMESTAMP) or not is_wide or not is_in_ms or field.Offset(_slot(4)):
        raise ValueError(f"the Arrow type of the column {name} is not supported")
    return _Field(name, kind, 0)


def _slot(index: int) -> int:
    """Return where the table of a message says where its field is."""
    return 4 + 2 * index


def _tables(table: Table, index: int) -> Iterator[Table]:
    """Yield the tables of a vector."""
    offset = table.Offset(_slot(index))
    if not offset:
        return
    start = table.Vector(offset)
    for number in range(table.VectorLen(offset)):
        yield Table(table.Bytes, table.Indirect(start + 4 * number))


def _structs(table: Table, index: int) -> Iterator[tuple[int, int]]:
    """Yield the structs of two 64-bit integers of a vector."""
    offset = table.Offset(_slot(index))
    start = table.Vector(offset)
    for number in range(table.VectorLen(offset)):
        first, second = struct.unpack_from("<qq", table.Bytes, start + 16 * number)
        yield first, second


def _buffer(data: memoryview, place: tuple[int, int]) -> memoryview:
    offset, length = place
    return data[offset : offset + length]


def _valid(bitmap: memoryview, rows: int) -> Array | None:
    """Return which rows have a value; ``None`` if all have one."""
    if len(bitmap) == 0:
        return None
    return np.unpackbits(np.frombuffer(bitmap, np.uint8), count=rows, bitorder="little").astype(bool)


def _find_runs(data: memoryview, offsets: Array) -> tuple[Array, Array] | None:
    """
    Return where equal texts begin that follow each other, and how many they are; ``None`` if too few follow each other.
    Only texts of one length are compared.
    """
    rows = len(offsets) - 1
    if rows < 2:
        return None
    widths = np.diff(offsets)
    width = int(widths[0])
    if not (widths == width).all():
        return None
    if width == 0:
        return np.array([0]), np.array([rows])
    words = np.frombuffer(data, f"S{width}", rows, int(offsets[0]))
    starts = np.flatnonzero(np.concatenate(([True], words[1:] != words[:-1])))
    if 2 * len(starts) > rows:
        return None
    return starts, np.diff(np.append(starts, rows))


def _slice_texts(data: memoryview, starts: list[int], ends: list[int]) -> list[str]:
    text = str(data, "utf-8")
    if len(text) == len(data):
        return [text[start:end] for start, end in zip(starts, ends, strict=True)]
    return [str(data[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)]


def _to_objects(values: list[Any]) -> Array:
    array = np.empty(len(values), object)
    array[:] = values
    return array
