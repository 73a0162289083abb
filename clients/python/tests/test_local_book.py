"""The copy of an order book, and its checksum."""

from __future__ import annotations

import asyncio
import zlib
from decimal import Decimal
from typing import Any

from conftest import FAST, Service
from oddwire import AsyncClient, LocalBook


def snapshot(bids: list[tuple[str, str]], asks: list[tuple[str, str]]) -> dict[str, Any]:
    return {"type": "snapshot", "data": [{"bids": levels(bids), "asks": levels(asks), "stale_reason": None}]}


def change(bids: list[tuple[str, str]], asks: list[tuple[str, str]], checksum: int) -> dict[str, Any]:
    return {"type": "event", "data": {"bids": levels(bids), "asks": levels(asks), "checksum": checksum}}


def levels(pairs: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"price": price, "size": size} for price, size in pairs]


def test_changes_are_verified() -> None:
    book = LocalBook()
    assert book.stale_reason is not None
    assert book.take(snapshot([("0.4", "10"), ("0.39", "5")], [("0.6", "1.5")]))
    assert book.stale_reason is None
    checked = zlib.crc32(b"".join([b"600000", b"1500000", b"410000", b"2000000", b"390000", b"5000000"]))
    assert book.take(change([("0.4", "0"), ("0.41", "2")], [], checked))
    assert [tuple(level) for level in book.bids] == [(Decimal("0.41"), Decimal(2)), (Decimal("0.39"), Decimal(5))]
    assert not book.take(change([("0.41", "3")], [], checked))
    assert book.stale_reason == "its checksum does not fit"


def test_a_book_is_followed(service: Service) -> None:
    async def first() -> LocalBook:
        async with AsyncClient(service.url, service.read_key, backoff=FAST) as client:
            async for book in client.follow_book(service.token_id):
                return book
        raise AssertionError("a stream does not end")

    book = asyncio.run(first())
    assert (book.bids, book.asks, book.stale_reason) == ([], [], None)
