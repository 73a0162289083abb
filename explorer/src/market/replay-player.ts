import type { Market, TokenId, Trade } from "../../../clients/typescript/src/api.ts";
import { wait } from "../../../clients/typescript/src/backoff.ts";
import type { OddwireClient } from "../../../clients/typescript/src/client.ts";
import { bothLedgers, ledgerTokens } from "../service/ledgers.ts";
import { nextPaint } from "../service/next-paint.ts";

/** The state of a replay at one moment of the market's life. */
export type ReplayMoment = {
  readonly atMs: number;
  /** Newest first. */
  readonly trades: readonly Trade[];
  /** Price of the first outcome; `null` before the first trade and while it is read. */
  readonly price: number | null;
  readonly tradeCount: number;
  readonly volumeUsd: number;
  readonly isPlaying: boolean;
  readonly isReading: boolean;
};

const tapeRows = 60;
const lifeSecondsAtSpeedOne = 60;
const pageRows = 1000;
/** A seek counts whole days, hours and minutes from candles, and the trades of its own minute one by one. */
const counted = [
  ["1d", 86_400_000],
  ["1h", 3_600_000],
  ["1m", 60_000],
] as const;
/** While the slider is dragged, nothing is read. */
const settleMs = 150;

/**
 * Replays a market's trades on both ledgers in order, with pauses in proportion to the real ones. The trades come from
 * the stream, from the position of the current moment. Only the newest rows are kept, so a market can have any number
 * of trades.
 */
export class ReplayPlayer {
  readonly #client: OddwireClient;
  /** The tokens of the first outcome, and those of all outcomes. */
  readonly #firstIds: readonly TokenId[];
  readonly #tokenIds: readonly TokenId[];
  readonly #onChange: (moment: ReplayMoment) => void;
  readonly fromMs: number;
  readonly toMs: number;
  #moment: ReplayMoment;
  /** The moment that `onChange` received last. */
  #drawn: ReplayMoment | null = null;
  #speed = 1;
  #run = new AbortController();
  /** Resolves when the clock reaches a time. */
  #waiting: { readonly forMs: number; readonly resolve: () => void } | null = null;

  private constructor(
    client: OddwireClient,
    market: Market,
    onChange: (moment: ReplayMoment) => void,
  ) {
    this.#client = client;
    const tokens = ledgerTokens(market);
    this.#firstIds = bothLedgers(tokens.slice(0, 1));
    this.#tokenIds = bothLedgers(tokens);
    this.#onChange = onChange;
    this.fromMs = market.created_at_ms;
    this.toMs = Math.max(
      market.resolved_at_ms ?? market.last_trade_at_ms ?? Date.now(),
      this.fromMs + 1000,
    );
    this.#moment = {
      atMs: this.fromMs,
      trades: [],
      price: null,
      tradeCount: 0,
      volumeUsd: 0,
      isPlaying: true,
      isReading: true,
    };
  }

  /** Opens a replay that starts at the beginning. */
  static open(
    client: OddwireClient,
    market: Market,
    onChange: (moment: ReplayMoment) => void,
  ): ReplayPlayer {
    const player = new ReplayPlayer(client, market, onChange);
    player.seek(player.fromMs);
    return player;
  }

  close(): void {
    this.#run.abort();
    this.#waiting?.resolve();
  }

  set speed(speed: number) {
    this.#speed = speed;
  }

  /** Resumes or pauses the replay. */
  play(isPlaying: boolean): void {
    if (isPlaying && this.#moment.atMs >= this.toMs) this.seek(this.fromMs);
    this.#change({ isPlaying });
  }

  /** Jumps to a moment and continues from there. */
  seek(atMs: number): void {
    this.close();
    this.#run = new AbortController();
    const { signal } = this.#run;
    this.#change({ atMs, price: null, isReading: true });
    this.#playFrom(atMs, signal).catch(() => {
      if (!signal.aborted) this.#change({ isReading: false, isPlaying: false });
    });
    void this.#tick(signal);
  }

  async #playFrom(atMs: number, signal: AbortSignal): Promise<void> {
    await wait(settleMs, signal);
    const before = await this.#readBefore(atMs);
    if (signal.aborted) return;
    this.#change({ ...before, isReading: false });
    const resumeFrom = this.#newestSeq === 0 ? await this.#readFirstSeq() : this.#newestSeq;
    const [tokenIds, channel] = [this.#tokenIds, "token_trades"] as const;
    const options = {
      channel: { type: channel, token_ids: tokenIds },
      resumeFrom,
      signal,
    } as const;
    for await (const frame of this.#client.stream(options)) {
      if (frame.type === "replay_complete") return;
      // After a reorg the stream sends trades again that were read already.
      if (frame.type !== "event" || frame.data.seq <= this.#newestSeq) continue;
      await this.#reach(frame.data.timestamp_ms);
      if (signal.aborted) return;
      this.#take(frame.data);
    }
  }

  /** Reads the newest trades, the totals and the price at a moment. */
  async #readBefore(atMs: number) {
    const query = { token_id: this.#tokenIds, end: endAfter(atMs) };
    const { data: trades } = await this.#client.trades({ ...query, limit: tapeRows }).page();
    const [newest] = trades;
    const price = newest === undefined ? null : this.#getPrice(newest);
    return { trades, ...(await this.#readTotals(atMs)), price };
  }

  async #readTotals(atMs: number) {
    const totals = { tradeCount: 0, volumeUsd: 0 };
    const [token] = this.#firstIds;
    if (token === undefined) return totals;
    const add = (count: number, volumeUsd: string): void => {
      totals.tradeCount += count;
      totals.volumeUsd += Number(volumeUsd);
    };
    const [[, longestMs]] = counted;
    let start = Math.floor(this.fromMs / longestMs) * longestMs;
    for (const [resolution, lengthMs] of counted) {
      const end = Math.floor(atMs / lengthMs) * lengthMs;
      if (end <= start) continue;
      const range = { resolution, start, end, include_mirror: true, limit: pageRows };
      const candles = this.#client.candles(token, range);
      for await (const { trades: count, volume_usd: volume } of candles) add(count, volume);
      start = end;
    }
    const query = { token_id: this.#tokenIds, start, end: endAfter(atMs), limit: pageRows };
    for await (const { value_usd: value } of this.#client.trades(query)) add(1, value);
    return totals;
  }

  /** Returns the position right before the first trade. */
  async #readFirstSeq(): Promise<number> {
    const query = { token_id: this.#tokenIds, order: "asc", limit: 1 } as const;
    const { data } = await this.#client.trades(query).page();
    return Math.max(0, (data[0]?.seq ?? 1) - 1);
  }

  /** The position of the newest trade so far; 0 before the first one. */
  get #newestSeq(): number {
    return this.#moment.trades[0]?.seq ?? 0;
  }

  #take(trade: Trade): void {
    const { trades, tradeCount, volumeUsd } = this.#moment;
    this.#moment = {
      ...this.#moment,
      trades: [trade, ...trades].slice(0, tapeRows),
      tradeCount: tradeCount + 1,
      volumeUsd: volumeUsd + Number(trade.value_usd),
      price: this.#getPrice(trade),
    };
  }

  #getPrice({ token_id: tokenId, price }: Trade): number | null {
    if (price === null) return this.#moment.price;
    return this.#firstIds.includes(tokenId) ? Number(price) : 1 - Number(price);
  }

  async #reach(ms: number): Promise<void> {
    if (ms <= this.#moment.atMs) return;
    await new Promise<void>((resolve) => {
      this.#waiting = { forMs: ms, resolve };
    });
  }

  /** Advances the clock with every frame of the screen. */
  async #tick(signal: AbortSignal): Promise<void> {
    let lastMs = performance.now();
    while (!signal.aborted) {
      const paintedMs = await nextPaint();
      const passedMs = Math.min(200, paintedMs - lastMs);
      lastMs = paintedMs;
      if (signal.aborted) return;
      if (this.#moment !== this.#drawn) this.#change({});
      const { isPlaying, isReading, atMs } = this.#moment;
      if (!isPlaying || isReading) continue;
      const rate = ((this.toMs - this.fromMs) / (lifeSecondsAtSpeedOne * 1000)) * this.#speed;
      const nextMs = Math.min(this.toMs, atMs + passedMs * rate);
      this.#change({ atMs: nextMs, isPlaying: nextMs < this.toMs });
      const waiting = this.#waiting;
      if (waiting === null || waiting.forMs > nextMs) continue;
      this.#waiting = null;
      waiting.resolve();
    }
  }

  #change(changes: Partial<ReplayMoment>): void {
    this.#moment = { ...this.#moment, ...changes };
    this.#drawn = this.#moment;
    this.#onChange(this.#moment);
  }
}

/** Returns the end of a query that includes a moment: ends are exclusive. */
function endAfter(atMs: number): number {
  return Math.floor(atMs) + 1;
}
