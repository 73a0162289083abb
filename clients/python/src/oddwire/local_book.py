"""A copy of an order book that verifies itself."""

from __future__ import annotations

import zlib
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Levels of each side that the checksum covers.
_CHECKED_LEVELS = 10


class Level(NamedTuple):
    """The shares at one price."""

    price: Decimal
    size: Decimal


class LocalBook:
    """A copy of one order book, updated by the changes of the stream and verified by their checksums."""

    def __init__(self) -> None:
        self._bids: dict[Decimal, Decimal] = {}
        self._asks: dict[Decimal, Decimal] = {}
        #: Why the copy is stale; ``None`` if it is not.
        self.stale_reason: str | None = "it has not come yet"

    @property
    def bids(self) -> list[Level]:
        """Best first."""
        return [Level(*level) for level in sorted(self._bids.items(), reverse=True)]

    @property
    def asks(self) -> list[Level]:
        """Best first."""
        return [Level(*level) for level in sorted(self._asks.items())]

    @property
    def checksum(self) -> int:
        """CRC-32 over the best levels: asks, then bids, each price and size in millionths."""
        checked = [*self.asks[:_CHECKED_LEVELS], *self.bids[:_CHECKED_LEVELS]]
        text = "".join(f"{_millionths(price)}{_millionths(size)}" for price, size in checked)
        return zlib.crc32(text.encode())

    def take(self, frame: Mapping[str, Any]) -> bool:
        """Apply a frame of the channel ``orderbook``. Return ``False`` if the checksum of a change does not match."""
        if frame["type"] == "snapshot":
            self._replace(frame["data"][-1])
        elif frame["type"] == "event":
            return self._change(frame["data"])
        return True

    def _replace(self, book: Mapping[str, Any]) -> None:
        self._bids.clear()
        self._asks.clear()
        _set_all(self._bids, book["bids"])
        _set_all(self._asks, book["asks"])
        self.stale_reason = book["stale_reason"]

    def _change(self, change: Mapping[str, Any]) -> bool:
        if "checksum" not in change:
            self.stale_reason = change["stale_reason"]
            return True
        _set_all(self._bids, change["bids"])
        _set_all(self._asks, change["asks"])
        if self.checksum == change["checksum"]:
            return True
        self.stale_reason = "its checksum does not fit"
        return False


def _set_all(side: dict[Decimal, Decimal], levels: Iterable[Mapping[str, str]]) -> None:
    for level in levels:
        price, size = Decimal(level["price"]), Decimal(level["size"])
        if size == 0:
            side.pop(price, None)
        else:
            side[price] = size


def _millionths(amount: Decimal) -> int:
    return int(amount.scaleb(6))
