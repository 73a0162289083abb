/** The scripted venue's own implementation of an order book, as simple as possible. */
import { createHash } from "node:crypto";
import { toTokenId } from "../../src/base/ids.ts";
import { parseGen3TokenId } from "../../src/market/ids/gen3-ids.ts";

export type VenueSide = "BUY" | "SELL";
type VenueLevel = { readonly price: string; readonly size: string };

/** Prices and sizes are decimals without trailing zeros, in the venue's format. */
export class VenueBook {
  readonly assetId: string;
  readonly market: string;
  tickSize = "0.01";
  minOrderSize = "5";
  isNegRisk = false;
  /** Empty before the first trade. */
  lastTradePrice = "";
  timestampMs: number;
  /** `v2` for tokens of generation 3. */
  readonly version: string | undefined;
  readonly #sizes: Record<VenueSide, Map<string, string>> = { BUY: new Map(), SELL: new Map() };

  constructor(options: { assetId: string; market: string; timestampMs: number }) {
    this.assetId = options.assetId;
    this.market = options.market;
    this.timestampMs = options.timestampMs;
    const isGen3 = parseGen3TokenId(toTokenId(BigInt(options.assetId))) !== null;
    this.version = isGen3 ? "v2" : undefined;
  }

  set(side: VenueSide, price: string, size: string): void {
    if (size === "0") this.#sizes[side].delete(price);
    else this.#sizes[side].set(price, size);
  }

  sizeAt(side: VenueSide, price: string): string {
    return this.#sizes[side].get(price) ?? "0";
  }

  /** The levels, worst first, as the venue lists them. */
  levels(side: VenueSide): VenueLevel[] {
    const levels = [...this.#sizes[side]].map(([price, size]) => ({ price, size }));
    const sign = side === "BUY" ? 1 : -1;
    return levels.toSorted((a, b) => sign * (Number(a.price) - Number(b.price)));
  }

  get bestBid(): string {
    return this.levels("BUY").at(-1)?.price ?? "0";
  }

  get bestAsk(): string {
    return this.levels("SELL").at(-1)?.price ?? "1";
  }

  /** The response of `GET /book`. */
  get summary() {
    const summary = {
      market: this.market,
      asset_id: this.assetId,
      timestamp: String(this.timestampMs),
      hash: "",
      bids: this.levels("BUY"),
      asks: this.levels("SELL"),
      min_order_size: this.minOrderSize,
      tick_size: this.tickSize,
      neg_risk: this.isNegRisk,
      last_trade_price: this.lastTradePrice,
      version: this.version,
    };
    return { ...summary, hash: createHash("sha1").update(JSON.stringify(summary)).digest("hex") };
  }

  /** The message of the stream with the whole book. */
  get message() {
    const { min_order_size: _size, neg_risk: _risk, ...reported } = this.summary;
    return { event_type: "book", ...reported };
  }
}
