"""Frames of pyarrow and Polars equal those of pandas. Only where both are installed: Debian packages neither."""

from __future__ import annotations

import asyncio

import pandas as pd
import polars
import pyarrow

from conftest import FAST, Service
from oddwire import AsyncClient, Client


def test_a_table_of_pyarrow(client: Client) -> None:
    frame, table = client.trades().to_pandas(), client.trades().to_arrow()
    assert table.schema.field("value_usd").type == pyarrow.decimal128(38, 6)
    assert table.schema.field("token_id").type in (pyarrow.string(), pyarrow.large_string())
    assert table.num_rows == len(frame) > 1000
    for name in frame.columns:
        values = [None if value is None else str(value) for value in table[name].to_pylist()]
        assert values == [None if pd.isna(value) else str(value) for value in frame[name]], name


def test_a_frame_of_polars(client: Client) -> None:
    table, frame = client.trades().to_arrow(), client.trades().to_polars()
    assert frame.schema["value_usd"] == polars.Decimal(38, 6)
    assert frame.schema["token_id"] == polars.String
    assert frame.to_dicts() == table.to_pylist()


def test_the_async_client_gives_the_same(service: Service, client: Client) -> None:
    async def read() -> tuple[pyarrow.Table, polars.DataFrame]:
        async with AsyncClient(service.url, service.read_key, backoff=FAST) as other:
            return await other.trades().to_arrow(), await other.trades().to_polars()

    table, frame = asyncio.run(read())
    assert table.equals(client.trades().to_arrow())
    assert frame.equals(client.trades().to_polars())
