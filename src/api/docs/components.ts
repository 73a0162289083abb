/**
 * The shapes that the API document describes once, by name, and refers to elsewhere. A shape that is not listed here is
 * repeated wherever it is used, which makes the document longer but is correct.
 */
import type { TSchema } from "typebox";
import { bookRow } from "../../rows/book-row.ts";
import { candleRow } from "../../rows/candle-row.ts";
import { eventRow } from "../../rows/event-row.ts";
import { cancellationRow } from "../../rows/exchange-event-row.ts";
import { fillRow } from "../../rows/fill-row.ts";
import { marketRow } from "../../rows/market-row.ts";
import { matchRow } from "../../rows/match-row.ts";
import { pastPriceRow, priceRow } from "../../rows/price-row.ts";
import { resolutionRow, resultStepRow } from "../../rows/resolution-row.ts";
import { statsRow } from "../../rows/stats-row.ts";
import { tagRow } from "../../rows/tag-row.ts";
import { tradeRow } from "../../rows/trade-row.ts";
import { activityRow } from "../../rows/wallets/activity-row.ts";
import { holderRow } from "../../rows/wallets/holder-row.ts";
import {
  marketInterestRow,
  openInterestRow,
  totalInterestRow,
} from "../../rows/wallets/open-interest-row.ts";
import { pnlRow } from "../../rows/wallets/pnl-row.ts";
import { positionRow } from "../../rows/wallets/position-row.ts";
import * as wire from "../../rows/wire-format.ts";
import { errorSchema } from "../route/error-answer.ts";
import { metaSchema, paginationSchema } from "../route/list-answer.ts";
import { issuedKeySchema, keySchema } from "../routes/admin/key-routes.ts";
import { streamFrames } from "./stream-frames.ts";

export const components: Readonly<Record<string, TSchema>> = {
  Market: marketRow,
  Event: eventRow,
  Tag: tagRow,
  Position: positionRow,
  Activity: activityRow,
  ProfitBucket: pnlRow,
  Holder: holderRow,
  OpenInterest: openInterestRow,
  TotalOpenInterest: totalInterestRow,
  MarketOpenInterest: marketInterestRow,
  Trade: tradeRow,
  Fill: fillRow,
  Match: matchRow,
  Cancellation: cancellationRow,
  Resolution: resolutionRow,
  ResultStep: resultStepRow,
  Price: priceRow,
  PastPrice: pastPriceRow,
  OrderBook: bookRow,
  Candle: candleRow,
  Stats: statsRow,
  Key: keySchema,
  IssuedKey: issuedKeySchema,
  Pagination: paginationSchema,
  Meta: metaSchema,
  Error: errorSchema,
  ...streamFrames,
  TokenId: wire.tokenIdText,
  ConditionId: wire.conditionIdText,
  Address: wire.addressText,
  Hash: wire.hashText,
  Decimal: wire.decimalText,
  RawAmount: wire.rawAmountText,
  Seq: wire.seqNumber,
  Time: wire.timeText,
  Milliseconds: wire.millisecondsNumber,
};
