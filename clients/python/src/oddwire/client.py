"""The clients. Their methods are made from the document of the API by `npm run docs`; a test compares the two."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Unpack

import httpx

from . import api
from .backoff import Backoff
from .http import AsyncHttp, Call, Http, Options, segment
from .local_book import LocalBook
from .pages import AsyncPages, Pages
from .stream import Stream, StreamState


class Client:
    """
    A client of the service, with one method for each endpoint. Lists are iterated and read page by page. Errors are
    ``OddwireError``. Use it in a ``with`` statement, or close it.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        backoff: Backoff | None = None,
        timeout: float = 30.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """
        ``timeout`` is in seconds, for each attempt. ``transport`` replaces the connections of httpx, to add a proxy or
        certificates.
        """
        self._http = Http(Options(url, key, backoff or Backoff(), timeout), transport)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def markets(self, **query: Unpack[api.ListMarketsQuery]) -> Pages[api.Market]:
        """Markets with totals and prices. Search, filter, sort and export them."""
        return Pages(self._http, "/v1/markets", query)

    def market(self, id: str, **query: Unpack[api.GetMarketQuery]) -> api.Market:
        """One market by condition id, token id or slug."""
        answer: api.Market = self._http.data(Call(f"/v1/markets/{segment(id)}", query), dict)
        return answer

    def result_steps(self, id: str, **query: Unpack[api.ListResultStepsQuery]) -> Pages[api.ResultStep]:
        """How a market got its result, oldest first: the requests to its oracle, proposals, disputes, resets and settlements, and the results that were reported to it and to its mirror."""
        return Pages(self._http, f"/v1/markets/{segment(id)}/resolution", query)

    def holders(self, id: str, **query: Unpack[api.ListHoldersQuery]) -> Pages[api.Holder]:
        """Who holds the outcomes of a market, the largest first. meta has the supply and the number of holders of each outcome."""
        return Pages(self._http, f"/v1/markets/{segment(id)}/holders", query)

    def open_interest(self, id: str, **query: Unpack[api.ListOpenInterestQuery]) -> Pages[api.OpenInterest]:
        """Supply, open interest and collateral at the end of each bucket, from the first mint on. Without start and end, the newest."""
        return Pages(self._http, f"/v1/markets/{segment(id)}/open-interest", query)

    def total_open_interest(self, **query: Unpack[api.ListTotalOpenInterestQuery]) -> Pages[api.TotalOpenInterest]:
        """The collateral behind all positions at the end of each bucket, from the first split on. Without start and end, the newest."""
        return Pages(self._http, "/v1/open-interest", query)

    def events(self, **query: Unpack[api.ListEventsQuery]) -> Pages[api.Event]:
        """Events with their markets, totals and prices."""
        return Pages(self._http, "/v1/events", query)

    def event(self, id: str, **query: Unpack[api.GetEventQuery]) -> api.Event:
        """One event by its id, the venue's id or slug."""
        answer: api.Event = self._http.data(Call(f"/v1/events/{segment(id)}", query), dict)
        return answer

    def tags(self, **query: Unpack[api.ListTagsQuery]) -> Pages[api.Tag]:
        """Tags that the venue gave markets, the most traded in 24 hours first."""
        return Pages(self._http, "/v1/tags", query)

    def categories(self, **query: Unpack[api.ListCategoriesQuery]) -> Pages[api.Tag]:
        """Categories that the venue gave markets, the most traded in 24 hours first."""
        return Pages(self._http, "/v1/categories", query)

    def trades(self, **query: Unpack[api.ListTradesQuery]) -> Pages[api.Trade]:
        """Trades of all tokens, newest first. Volume is counted once."""
        return Pages(self._http, "/v1/trades", query)

    def token_trades(self, token_id: str, **query: Unpack[api.ListTokenTradesQuery]) -> Pages[api.Trade]:
        """Trades of one token, newest first; optionally with inverted trades of its complement."""
        return Pages(self._http, f"/v1/trades/market/{segment(token_id)}", query)

    def fills(self, **query: Unpack[api.ListFillsQuery]) -> Pages[api.Fill]:
        """Raw OrderFilled events, both sides of each match. To sum volume, use trades."""
        return Pages(self._http, "/v1/fills", query)

    def matches(self, **query: Unpack[api.ListMatchesQuery]) -> Pages[api.Match]:
        """One row for each taker order: what it received from all its makers."""
        return Pages(self._http, "/v1/matches", query)

    def cancellations(self, **query: Unpack[api.ListCancellationsQuery]) -> Pages[api.Cancellation]:
        """Cancellations on the chain. Orders that are canceled at the venue leave no trace there."""
        return Pages(self._http, "/v1/cancellations", query)

    def exchange_events(self, **query: Unpack[api.ListExchangeEventsQuery]) -> Pages[api.ListExchangeEventsRow]:
        """Cancellations, approvals, pauses, roles and fees: everything exchanges log except fills."""
        return Pages(self._http, "/v1/exchange-events", query)

    def resolutions(self, **query: Unpack[api.ListResolutionsQuery]) -> Pages[api.Resolution]:
        """Resolved conditions with their payouts, newest first."""
        return Pages(self._http, "/v1/resolutions", query)

    def order(self, order_hash: str, **query: Unpack[api.GetOrderQuery]) -> api.GetOrderData:
        """All fills of one order and what ended it."""
        answer: api.GetOrderData = self._http.data(Call(f"/v1/orders/{segment(order_hash)}", query), dict)
        return answer

    def transaction(self, tx_hash: str, **query: Unpack[api.GetTransactionQuery]) -> api.GetTransactionData:
        """All trades, fills, matches and events of one transaction."""
        answer: api.GetTransactionData = self._http.data(Call(f"/v1/transactions/{segment(tx_hash)}", query), dict)
        return answer

    def wallet(self, address: str, **query: Unpack[api.GetWalletQuery]) -> api.GetWalletData:
        """What one wallet holds, earned and traded, in total and by market."""
        answer: api.GetWalletData = self._http.data(Call(f"/v1/wallets/{segment(address)}", query), dict)
        return answer

    def positions(self, address: str, **query: Unpack[api.ListPositionsQuery]) -> Pages[api.Position]:
        """What a wallet holds, at which cost, and what it earned."""
        return Pages(self._http, f"/v1/wallets/{segment(address)}/positions", query)

    def activity(self, address: str, **query: Unpack[api.ListActivityQuery]) -> Pages[api.Activity]:
        """Every change of what a wallet holds, with its cause, newest first."""
        return Pages(self._http, f"/v1/wallets/{segment(address)}/activity", query)

    def pnl(self, address: str, **query: Unpack[api.ListPnlQuery]) -> Pages[api.ProfitBucket]:
        """Realized profit, fees, volume and trades of each bucket in which there were any, and their sums since the start. Weeks begin on Monday."""
        return Pages(self._http, f"/v1/wallets/{segment(address)}/pnl", query)

    def price(self, token_id: str, **query: Unpack[api.GetPriceQuery]) -> api.Price:
        """Price of the last trade, 24-hour statistics and the complement's price. With `at` the price as it was."""
        answer: api.Price = self._http.data(Call(f"/v1/price/{segment(token_id)}", query), dict)
        return answer

    def price_at(self, token_id: str, at: str | int | datetime, **query: Unpack[api.GetPriceQuery]) -> api.PastPrice:
        """Price of the last trade, 24-hour statistics and the complement's price. With `at` the price as it was."""
        answer: api.PastPrice = self._http.data(Call(f"/v1/price/{segment(token_id)}", {"at": at, **query}), dict)
        return answer

    def prices(self, token_ids: Sequence[str], **query: Unpack[api.ListPricesQuery]) -> list[api.Price]:
        """Prices of up to 100 tokens, a row for each requested id. `not_found` names tokens that were never seen on the chain."""
        answer: list[api.Price] = self._http.data(Call("/v1/price", {"token_ids": token_ids, **query}), list)
        return answer

    def prices_at(
        self, token_ids: Sequence[str], at: str | int | datetime, **query: Unpack[api.ListPricesQuery]
    ) -> list[api.PastPrice]:
        """Prices of up to 100 tokens, a row for each requested id. `not_found` names tokens that were never seen on the chain."""
        answer: list[api.PastPrice] = self._http.data(
            Call("/v1/price", {"token_ids": token_ids, "at": at, **query}), list
        )
        return answer

    def candles(self, token_id: str, **query: Unpack[api.ListCandlesQuery]) -> Pages[api.Candle]:
        """OHLCV candles of a token. Without start and end, the newest."""
        return Pages(self._http, f"/v1/candles/{segment(token_id)}", query)

    def stats(self, **query: Unpack[api.ListStatsQuery]) -> Pages[api.Stats]:
        """Trades, volume, fees, markets and traders of each hour or day, of all markets, of one generation, of a builder code, or of categories. Without start and end, the newest."""
        return Pages(self._http, "/v1/stats", query)

    def many_candles(
        self, token_ids: Sequence[str], **query: Unpack[api.ListManyCandlesQuery]
    ) -> Pages[api.ListManyCandlesRow]:
        """The newest candles of up to 50 tokens, oldest first, of each token once, all on one page. `limit` counts the candles of each token, `pagination.limit` tokens. `not_found` names tokens that were never seen on the chain."""
        return Pages(self._http, "/v1/candles", {"token_ids": token_ids, **query})

    def order_book(self, token_id: str, **query: Unpack[api.GetOrderbookQuery]) -> api.OrderBook:
        """Order book of a token, from the venue."""
        answer: api.OrderBook = self._http.data(Call(f"/v1/orderbook/{segment(token_id)}", query), dict)
        return answer

    def health(self) -> api.GetHealthAnswer:
        """200 while the process responds."""
        answer: api.GetHealthAnswer = self._http.json(Call("/v1/health"))
        return answer

    def ready(self) -> api.GetReadyAnswer:
        """200 when every check is ok, otherwise 503 with the reasons."""
        answer: api.GetReadyAnswer = self._http.json(Call("/v1/ready", accepted=(503,)))
        return answer

    def metrics(self, **query: Unpack[api.GetMetricsQuery]) -> api.GetMetricsAnswer:
        """Metrics of the service as JSON."""
        answer: api.GetMetricsAnswer = self._http.json(Call("/v1/metrics", query))
        return answer

    def prometheus_metrics(self) -> str:
        """Metrics in the text format of Prometheus."""
        return self._http.text(Call("/v1/metrics/prometheus"))

    def create_key(self, **body: Unpack[api.CreateKeyBody]) -> api.IssuedKey:
        """The value of the key is returned only once."""
        answer: api.IssuedKey = self._http.data(Call("/v1/keys", method="POST", body=body), dict)
        return answer

    def keys(self, **query: Unpack[api.ListKeysQuery]) -> Pages[api.Key]:
        """Newest first, including revoked keys."""
        return Pages(self._http, "/v1/keys", query)

    def key(self, id: str) -> api.Key:
        """A key without its value."""
        answer: api.Key = self._http.data(Call(f"/v1/keys/{segment(id)}"), dict)
        return answer

    def revoke_key(self, id: str) -> api.RevokeKeyAnswer:
        """The key stops working immediately and cannot be restored."""
        answer: api.RevokeKeyAnswer = self._http.json(Call(f"/v1/keys/{segment(id)}", method="DELETE"))
        return answer

    def rotate_key(self, id: str, **body: Unpack[api.RotateKeyBody]) -> api.IssuedKey:
        """Gives the key a new value. The old value stops working immediately or after the grace period."""
        answer: api.IssuedKey = self._http.data(Call(f"/v1/keys/{segment(id)}/rotate", method="POST", body=body), dict)
        return answer

    def ip_blocks(self, **query: Unpack[api.ListIpBlocksQuery]) -> Pages[api.ListIpBlocksRow]:
        """IP addresses that are blocked now, newest first."""
        return Pages(self._http, "/v1/ip-blocks", query)

    def unblock_ip(self, ip: str) -> api.UnblockIpAnswer:
        """Ends the block of an IP address immediately."""
        answer: api.UnblockIpAnswer = self._http.json(Call(f"/v1/ip-blocks/{segment(ip)}", method="DELETE"))
        return answer

    def lake(self) -> api.GetLakeAnswer:
        """The manifest of the files that the service writes to `ODDWIRE_LAKE_DIR`: their days, blocks, rows, sizes and hashes. 404 without the setting, and until the first day is written."""
        answer: api.GetLakeAnswer = self._http.json(Call("/v1/lake"))
        return answer


class AsyncClient:
    """The client for asyncio, with the methods of ``Client`` and the stream. Use it in ``async with``, or close it."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        backoff: Backoff | None = None,
        timeout: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Make a client as ``Client`` does."""
        self._options = Options(url, key, backoff or Backoff(), timeout)
        self._http = AsyncHttp(self._options, transport)

    async def close(self) -> None:
        """Close the connections. Streams have their own and end when they are left."""
        await self._http.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def stream(
        self,
        channel: Mapping[str, object],
        *,
        resume_from: int | None = None,
        position_file: str | os.PathLike[str] | None = None,
        snapshot: int | None = None,
        allow_gap: bool = False,
        on_state: Callable[[StreamState], None] | None = None,
    ) -> Stream[api.StreamFrame]:
        """
        Follow a channel, such as ``{"type": "trades"}``.

        With ``resume_from`` everything after that ``seq`` comes first; 0 is the beginning. A ``position_file`` keeps the
        position over restarts, and if it exists it counts instead. ``snapshot`` begins with that many rows, at most 500.
        ``allow_gap`` resumes from before the first indexed block, although rows in between are missing. ``on_state`` is
        called whenever the state changes.
        """
        return Stream(
            self._options,
            channel,
            resume_from=resume_from,
            position_file=position_file,
            snapshot=snapshot,
            allow_gap=allow_gap,
            on_state=on_state,
        )

    async def follow_book(self, token_id: str) -> AsyncIterator[LocalBook]:
        """
        Yield the order book of a token after every change. It is always the same object, verified by the checksum of
        every change and fetched again after a mismatch.
        """
        book = LocalBook()
        channel = {"type": "orderbook", "token_id": token_id}
        async for frame in Stream[api.StreamFrame](self._options, channel, is_sound=book.take):
            if frame["type"] in ("snapshot", "event"):
                yield book

    def markets(self, **query: Unpack[api.ListMarketsQuery]) -> AsyncPages[api.Market]:
        """Markets with totals and prices. Search, filter, sort and export them."""
        return AsyncPages(self._http, "/v1/markets", query)

    async def market(self, id: str, **query: Unpack[api.GetMarketQuery]) -> api.Market:
        """One market by condition id, token id or slug."""
        answer: api.Market = await self._http.data(Call(f"/v1/markets/{segment(id)}", query), dict)
        return answer

    def result_steps(self, id: str, **query: Unpack[api.ListResultStepsQuery]) -> AsyncPages[api.ResultStep]:
        """How a market got its result, oldest first: the requests to its oracle, proposals, disputes, resets and settlements, and the results that were reported to it and to its mirror."""
        return AsyncPages(self._http, f"/v1/markets/{segment(id)}/resolution", query)

    def holders(self, id: str, **query: Unpack[api.ListHoldersQuery]) -> AsyncPages[api.Holder]:
        """Who holds the outcomes of a market, the largest first. meta has the supply and the number of holders of each outcome."""
        return AsyncPages(self._http, f"/v1/markets/{segment(id)}/holders", query)

    def open_interest(self, id: str, **query: Unpack[api.ListOpenInterestQuery]) -> AsyncPages[api.OpenInterest]:
        """Supply, open interest and collateral at the end of each bucket, from the first mint on. Without start and end, the newest."""
        return AsyncPages(self._http, f"/v1/markets/{segment(id)}/open-interest", query)

    def total_open_interest(self, **query: Unpack[api.ListTotalOpenInterestQuery]) -> AsyncPages[api.TotalOpenInterest]:
        """The collateral behind all positions at the end of each bucket, from the first split on. Without start and end, the newest."""
        return AsyncPages(self._http, "/v1/open-interest", query)

    def events(self, **query: Unpack[api.ListEventsQuery]) -> AsyncPages[api.Event]:
        """Events with their markets, totals and prices."""
        return AsyncPages(self._http, "/v1/events", query)

    async def event(self, id: str, **query: Unpack[api.GetEventQuery]) -> api.Event:
        """One event by its id, the venue's id or slug."""
        answer: api.Event = await self._http.data(Call(f"/v1/events/{segment(id)}", query), dict)
        return answer

    def tags(self, **query: Unpack[api.ListTagsQuery]) -> AsyncPages[api.Tag]:
        """Tags that the venue gave markets, the most traded in 24 hours first."""
        return AsyncPages(self._http, "/v1/tags", query)

    def categories(self, **query: Unpack[api.ListCategoriesQuery]) -> AsyncPages[api.Tag]:
        """Categories that the venue gave markets, the most traded in 24 hours first."""
        return AsyncPages(self._http, "/v1/categories", query)

    def trades(self, **query: Unpack[api.ListTradesQuery]) -> AsyncPages[api.Trade]:
        """Trades of all tokens, newest first. Volume is counted once."""
        return AsyncPages(self._http, "/v1/trades", query)

    def token_trades(self, token_id: str, **query: Unpack[api.ListTokenTradesQuery]) -> AsyncPages[api.Trade]:
        """Trades of one token, newest first; optionally with inverted trades of its complement."""
        return AsyncPages(self._http, f"/v1/trades/market/{segment(token_id)}", query)

    def fills(self, **query: Unpack[api.ListFillsQuery]) -> AsyncPages[api.Fill]:
        """Raw OrderFilled events, both sides of each match. To sum volume, use trades."""
        return AsyncPages(self._http, "/v1/fills", query)

    def matches(self, **query: Unpack[api.ListMatchesQuery]) -> AsyncPages[api.Match]:
        """One row for each taker order: what it received from all its makers."""
        return AsyncPages(self._http, "/v1/matches", query)

    def cancellations(self, **query: Unpack[api.ListCancellationsQuery]) -> AsyncPages[api.Cancellation]:
        """Cancellations on the chain. Orders that are canceled at the venue leave no trace there."""
        return AsyncPages(self._http, "/v1/cancellations", query)

    def exchange_events(self, **query: Unpack[api.ListExchangeEventsQuery]) -> AsyncPages[api.ListExchangeEventsRow]:
        """Cancellations, approvals, pauses, roles and fees: everything exchanges log except fills."""
        return AsyncPages(self._http, "/v1/exchange-events", query)

    def resolutions(self, **query: Unpack[api.ListResolutionsQuery]) -> AsyncPages[api.Resolution]:
        """Resolved conditions with their payouts, newest first."""
        return AsyncPages(self._http, "/v1/resolutions", query)

    async def order(self, order_hash: str, **query: Unpack[api.GetOrderQuery]) -> api.GetOrderData:
        """All fills of one order and what ended it."""
        answer: api.GetOrderData = await self._http.data(Call(f"/v1/orders/{segment(order_hash)}", query), dict)
        return answer

    async def transaction(self, tx_hash: str, **query: Unpack[api.GetTransactionQuery]) -> api.GetTransactionData:
        """All trades, fills, matches and events of one transaction."""
        answer: api.GetTransactionData = await self._http.data(
            Call(f"/v1/transactions/{segment(tx_hash)}", query), dict
        )
        return answer

    async def wallet(self, address: str, **query: Unpack[api.GetWalletQuery]) -> api.GetWalletData:
        """What one wallet holds, earned and traded, in total and by market."""
        answer: api.GetWalletData = await self._http.data(Call(f"/v1/wallets/{segment(address)}", query), dict)
        return answer

    def positions(self, address: str, **query: Unpack[api.ListPositionsQuery]) -> AsyncPages[api.Position]:
        """What a wallet holds, at which cost, and what it earned."""
        return AsyncPages(self._http, f"/v1/wallets/{segment(address)}/positions", query)

    def activity(self, address: str, **query: Unpack[api.ListActivityQuery]) -> AsyncPages[api.Activity]:
        """Every change of what a wallet holds, with its cause, newest first."""
        return AsyncPages(self._http, f"/v1/wallets/{segment(address)}/activity", query)

    def pnl(self, address: str, **query: Unpack[api.ListPnlQuery]) -> AsyncPages[api.ProfitBucket]:
        """Realized profit, fees, volume and trades of each bucket in which there were any, and their sums since the start. Weeks begin on Monday."""
        return AsyncPages(self._http, f"/v1/wallets/{segment(address)}/pnl", query)

    async def price(self, token_id: str, **query: Unpack[api.GetPriceQuery]) -> api.Price:
        """Price of the last trade, 24-hour statistics and the complement's price. With `at` the price as it was."""
        answer: api.Price = await self._http.data(Call(f"/v1/price/{segment(token_id)}", query), dict)
        return answer

    async def price_at(
        self, token_id: str, at: str | int | datetime, **query: Unpack[api.GetPriceQuery]
    ) -> api.PastPrice:
        """Price of the last trade, 24-hour statistics and the complement's price. With `at` the price as it was."""
        answer: api.PastPrice = await self._http.data(Call(f"/v1/price/{segment(token_id)}", {"at": at, **query}), dict)
        return answer

    async def prices(self, token_ids: Sequence[str], **query: Unpack[api.ListPricesQuery]) -> list[api.Price]:
        """Prices of up to 100 tokens, a row for each requested id. `not_found` names tokens that were never seen on the chain."""
        answer: list[api.Price] = await self._http.data(Call("/v1/price", {"token_ids": token_ids, **query}), list)
        return answer

    async def prices_at(
        self, token_ids: Sequence[str], at: str | int | datetime, **query: Unpack[api.ListPricesQuery]
    ) -> list[api.PastPrice]:
        """Prices of up to 100 tokens, a row for each requested id. `not_found` names tokens that were never seen on the chain."""
        answer: list[api.PastPrice] = await self._http.data(
            Call("/v1/price", {"token_ids": token_ids, "at": at, **query}), list
        )
        return answer

    def candles(self, token_id: str, **query: Unpack[api.ListCandlesQuery]) -> AsyncPages[api.Candle]:
        """OHLCV candles of a token. Without start and end, the newest."""
        return AsyncPages(self._http, f"/v1/candles/{segment(token_id)}", query)

    def stats(self, **query: Unpack[api.ListStatsQuery]) -> AsyncPages[api.Stats]:
        """Trades, volume, fees, markets and traders of each hour or day, of all markets, of one generation, of a builder code, or of categories. Without start and end, the newest."""
        return AsyncPages(self._http, "/v1/stats", query)

    def many_candles(
        self, token_ids: Sequence[str], **query: Unpack[api.ListManyCandlesQuery]
    ) -> AsyncPages[api.ListManyCandlesRow]:
        """The newest candles of up to 50 tokens, oldest first, of each token once, all on one page. `limit` counts the candles of each token, `pagination.limit` tokens. `not_found` names tokens that were never seen on the chain."""
        return AsyncPages(self._http, "/v1/candles", {"token_ids": token_ids, **query})

    async def order_book(self, token_id: str, **query: Unpack[api.GetOrderbookQuery]) -> api.OrderBook:
        """Order book of a token, from the venue."""
        answer: api.OrderBook = await self._http.data(Call(f"/v1/orderbook/{segment(token_id)}", query), dict)
        return answer

    async def health(self) -> api.GetHealthAnswer:
        """200 while the process responds."""
        answer: api.GetHealthAnswer = await self._http.json(Call("/v1/health"))
        return answer

    async def ready(self) -> api.GetReadyAnswer:
        """200 when every check is ok, otherwise 503 with the reasons."""
        answer: api.GetReadyAnswer = await self._http.json(Call("/v1/ready", accepted=(503,)))
        return answer

    async def metrics(self, **query: Unpack[api.GetMetricsQuery]) -> api.GetMetricsAnswer:
        """Metrics of the service as JSON."""
        answer: api.GetMetricsAnswer = await self._http.json(Call("/v1/metrics", query))
        return answer

    async def prometheus_metrics(self) -> str:
        """Metrics in the text format of Prometheus."""
        return await self._http.text(Call("/v1/metrics/prometheus"))

    async def create_key(self, **body: Unpack[api.CreateKeyBody]) -> api.IssuedKey:
        """The value of the key is returned only once."""
        answer: api.IssuedKey = await self._http.data(Call("/v1/keys", method="POST", body=body), dict)
        return answer

    def keys(self, **query: Unpack[api.ListKeysQuery]) -> AsyncPages[api.Key]:
        """Newest first, including revoked keys."""
        return AsyncPages(self._http, "/v1/keys", query)

    async def key(self, id: str) -> api.Key:
        """A key without its value."""
        answer: api.Key = await self._http.data(Call(f"/v1/keys/{segment(id)}"), dict)
        return answer

    async def revoke_key(self, id: str) -> api.RevokeKeyAnswer:
        """The key stops working immediately and cannot be restored."""
        answer: api.RevokeKeyAnswer = await self._http.json(Call(f"/v1/keys/{segment(id)}", method="DELETE"))
        return answer

    async def rotate_key(self, id: str, **body: Unpack[api.RotateKeyBody]) -> api.IssuedKey:
        """Gives the key a new value. The old value stops working immediately or after the grace period."""
        answer: api.IssuedKey = await self._http.data(
            Call(f"/v1/keys/{segment(id)}/rotate", method="POST", body=body), dict
        )
        return answer

    def ip_blocks(self, **query: Unpack[api.ListIpBlocksQuery]) -> AsyncPages[api.ListIpBlocksRow]:
        """IP addresses that are blocked now, newest first."""
        return AsyncPages(self._http, "/v1/ip-blocks", query)

    async def unblock_ip(self, ip: str) -> api.UnblockIpAnswer:
        """Ends the block of an IP address immediately."""
        answer: api.UnblockIpAnswer = await self._http.json(Call(f"/v1/ip-blocks/{segment(ip)}", method="DELETE"))
        return answer

    async def lake(self) -> api.GetLakeAnswer:
        """The manifest of the files that the service writes to `ODDWIRE_LAKE_DIR`: their days, blocks, rows, sizes and hashes. 404 without the setting, and until the first day is written."""
        answer: api.GetLakeAnswer = await self._http.json(Call("/v1/lake"))
        return answer
