"""Lists: pages, files and frames give the same rows."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import random
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import oddwire
from conftest import FAST, Service
from oddwire import AsyncClient, Client, Pages
from oddwire.arrow_columns import Columns
from scripted_server import Answer, scripted_server

AMOUNTS = {"price", "size", "value_usd", "maker_fee", "maker_fee_net"}
#: The end of a stream of Arrow IPC.
ARROW_END = b"\xff\xff\xff\xff\0\0\0\0"


def test_pages_give_every_row_once(client: Client) -> None:
    rows = list(client.trades(limit=500))
    assert rows == list(client.trades(limit=1000))
    assert len({row["id"] for row in rows}) == len(rows) > 1000


def test_inputs_are_python_values(client: Client, service: Service) -> None:
    start = datetime(2026, 4, 28, tzinfo=UTC)
    found = client.trades(start=start, min_value=Decimal("600.5"), token_id=[service.token_id]).page().data
    assert found
    assert all(Decimal(row["value_usd"]) >= Decimal("600.5") for row in found)
    with pytest.raises(ValueError, match="time zone"):
        client.trades(start=datetime(2026, 4, 28)).page()


def test_a_frame_equals_the_csv_cell_by_cell(client: Client) -> None:
    lists: list[Pages[Any]] = [client.trades(), client.fills(), client.markets(), client.resolutions()]
    for pages in lists:
        frame = pages.to_pandas()
        with pages.file("csv") as file:
            rows = list(csv.reader(io.TextIOWrapper(file.body, newline="")))
        assert list(frame.columns) == rows[0]
        assert len(frame) == len(rows) - 1 == file.row_count
        assert not any(kind.kind == "f" for kind in frame.dtypes if hasattr(kind, "kind"))
        for name, *cells in zip(*rows, strict=True):
            assert [as_csv(value) for value in frame[name]] == [normal(cell) for cell in cells], name


def test_scaled_amounts_are_integers(client: Client) -> None:
    exact, scaled = client.trades().to_pandas(), client.trades().to_pandas(decimals="scaled")
    for name in AMOUNTS:
        assert scaled[name].dtype == pd.Int64Dtype()
        in_millionths = [pd.NA if value is None else int(value.scaleb(6)) for value in exact[name]]
        pd.testing.assert_series_equal(scaled[name], pd.Series(in_millionths, dtype="Int64", name=name))


def test_a_limit_limits_a_frame(client: Client) -> None:
    assert len(client.trades(limit=10).to_pandas()) == 10


def test_a_frame_without_rows_has_its_columns(client: Client) -> None:
    full, empty = client.trades().to_pandas(), client.trades(from_block=10**9).to_pandas()
    assert len(empty) == 0
    assert dict(empty.dtypes) == dict(full.dtypes)


def test_files_in_every_format(client: Client) -> None:
    rows = list(client.trades(limit=1000))
    with client.trades().file("ndjson") as file:
        assert [json.loads(line) for line in file.body] == rows
    with client.trades().file("parquet") as file:
        assert file.body.read(4) == b"PAR1"
    assert file.body.closed
    assert (file.row_count, file.next_cursor) == (len(rows), None)


@pytest.mark.parametrize("file_format", ["ndjson", "csv", "parquet", "arrow"])
def test_a_file_that_breaks_off_is_an_error(file_format: Any) -> None:
    cut = Answer(200, b"PAR", {"X-Row-Count": "5"})
    with scripted_server(cut) as server, Client(server.url, "key", backoff=FAST) as client:
        with pytest.raises(oddwire.UnreachableError, match="broke off"):
            client.trades().file(file_format)
        assert len(server.requests) == 3


def test_a_file_is_read_again_when_the_connection_breaks() -> None:
    whole = Answer(200, b'{"id": 1}\n', {"X-Row-Count": "1"})
    broken = Answer(200, b'{"id"', {"X-Row-Count": "1"}, missing=5)
    with scripted_server(broken, whole) as server, Client(server.url, "key", backoff=FAST) as client:
        with client.trades().file("ndjson") as file:
            assert file.body.read() == whole.body


@pytest.mark.parametrize("missing", [0, 5])
def test_a_frame_has_no_row_of_an_attempt_that_broke_off(client: Client, missing: int) -> None:
    frame = client.trades().to_pandas()
    with client.trades().file("arrow") as file:
        body = file.body.read()
    count = {"X-Row-Count": str(len(frame))}
    more = {**count, "X-Next-Cursor": "more"}
    for end in (len(body) // 2, len(body) - len(ARROW_END)):
        cut = Answer(200, body[:end], more, missing=missing)
        answers = (cut, Answer(200, body, more), cut, Answer(200, body, count))
        with scripted_server(*answers) as server, Client(server.url, "key", backoff=FAST) as other:
            twice = other.trades().to_pandas()
        pd.testing.assert_frame_equal(twice, pd.concat([frame, frame], ignore_index=True))
        with scripted_server(cut) as server, Client(server.url, "key", backoff=FAST) as other:
            with pytest.raises(oddwire.UnreachableError):
                other.trades().to_pandas()


def test_texts_of_any_form_come_as_they_are() -> None:
    rng = random.Random(7)
    texts = ["", "a", "a\0", "\0\0", "ab", "b\0", "é", "日本", "😀", "x" * 66]
    columns: list[list[str]] = [
        [one for one in rng.choices(texts, k=40) for _ in range(rng.randint(1, 4))],
        ["same"] * 100,
        [""] * 50,
        [f"{number:066}" for number in range(1500)],
        [one for one in ("a\0", "ab", "\0b") for _ in range(20)],
        ["alone"],
        [],
    ]
    for column in columns:
        data = [one.encode() for one in column]
        offsets = np.cumsum([0, *map(len, data)]).astype("<i4")
        reader = Columns("scaled")
        reader._texts = [{}]
        for _ in range(2):
            read = reader._read_texts(memoryview(b"".join(data)), offsets, 0)
            assert read.tolist() == column


@pytest.mark.parametrize("body", [b"", b"\0" * 16, b"\xff\xff\xff\xff\x10\0\0\0"])
def test_bytes_that_are_not_arrow_are_an_error(body: bytes) -> None:
    answer = Answer(200, body + ARROW_END, {"X-Row-Count": "1"})
    with scripted_server(answer) as server, Client(server.url, "key", backoff=FAST) as client:
        with pytest.raises(ValueError, match=r"Arrow|schema"):
            client.trades().to_pandas()


def test_a_missing_package_names_the_extra(client: Client) -> None:
    for name in ("pyarrow", "polars"):
        try:
            __import__(name)
        except ImportError:
            read = client.trades(limit=1).to_arrow if name == "pyarrow" else client.trades(limit=1).to_polars
            with pytest.raises(ImportError, match="pip install 'oddwire"):
                read()


def test_the_async_client_gives_the_same(service: Service, client: Client) -> None:
    async def read() -> tuple[list[Any], pd.DataFrame]:
        async with AsyncClient(service.url, service.read_key, backoff=FAST) as other:
            rows = [row async for row in other.trades(limit=1000)]
            return rows, await other.trades().to_pandas()

    rows, frame = asyncio.run(read())
    assert rows == list(client.trades(limit=1000))
    pd.testing.assert_frame_equal(frame, client.trades().to_pandas())


def as_csv(value: Any) -> str:
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, pd.Timestamp):
        return normal(value.isoformat())
    return str(value).lower() if isinstance(value, bool | np.bool_) else normal(str(value))


def normal(cell: str) -> str:
    """Return a cell in one of the forms that it can have."""
    if cell[:4].isdigit() and "T" in cell:
        return str(pd.Timestamp(cell).isoformat())
    whole, dot, fraction = cell.partition(".")
    if dot and (whole + fraction).lstrip("-").isdigit():
        return f"{whole}.{fraction}".rstrip("0").rstrip(".")
    return cell
