import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { VenueBook, type VenueSide } from "../../../test/support/venue-book.ts";
import { venueLimits } from "../../base/config/venue-limits.ts";
import { formatSafeMicros } from "../../base/decimal.ts";
import { HashTrust } from "./hash-trust.ts";
import { type BookListener, LiveBook, type StaleReason } from "./live-book.ts";
import { parseBookMessage, parseSnapshot } from "./parse-book.ts";

const assetId = "71321045679252212594626385532706912750332728571942532289631379312455583992563";

/** A step of a test: at the venue, on the wire or in this process. */
type Step =
  | {
      kind: "change";
      side: VenueSide;
      price: number;
      size: number;
      isLost: boolean;
      isLate: boolean;
    }
  | { kind: "trade"; price: number; isLost: boolean; isLate: boolean }
  | { kind: "whole"; isLost: boolean; isLate: boolean }
  | { kind: "ask" }
  | { kind: "answer"; isRefused: boolean }
  | { kind: "reconnect" }
  | { kind: "deliver_late" };

const fate = {
  isLost: fc.nat({ max: 5 }).map((drawn) => drawn === 0),
  isLate: fc.nat({ max: 7 }).map((drawn) => drawn === 0),
};
const anyPrice = fc.integer({ min: 1, max: 9 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant("change" as const),
      side: fc.constantFrom<VenueSide>("BUY", "SELL"),
      price: anyPrice,
      size: fc.integer({ min: 0, max: 3 }),
      ...fate,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("trade" as const), price: anyPrice, ...fate }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("whole" as const), ...fate }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("ask" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("answer" as const), isRefused: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reconnect" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deliver_late" as const) }) },
);

const anySteps = fc.array(anyStep, { maxLength: 60 });

/** The venue, the wire and the local book, driven step by step. `nowMs` advances by 7 with each step. */
class Stage {
  readonly venue = new VenueBook({ assetId, market: "0x01", timestampMs: 1_790_000_000_000 });
  readonly book: LiveBook;
  /** The venue's book at the newest message that arrived, by the venue's timestamp. */
  newest = { timestampMs: 0, text: "" };
  #answer: unknown = null;
  readonly #late: { text: string; state: Stage["newest"] }[] = [];
  nowMs = 0;

  constructor(trust = new HashTrust(), onFault: (reason: StaleReason) => void = () => {}) {
    this.book = new LiveBook({ assetId, trust, onFault, rereadMs: () => 30_000 });
  }

  play(step: Step): void {
    this.nowMs += 7;
    switch (step.kind) {
      case "change": {
        const price = `0.${step.price}`;
        // The venue's book is never crossed.
        if (this.#wouldCross(step)) return;
        this.venue.set(step.side, price, String(step.size));
        this.venue.timestampMs += 1;
        const { hash } = this.venue.summary;
        const best = { best_bid: this.venue.bestBid, best_ask: this.venue.bestAsk };
        const entry = { asset_id: assetId, price, size: String(step.size), side: step.side };
        const changes = { price_changes: [{ ...entry, hash, ...best }], market: "0x01" };
        const timestamp = String(this.venue.timestampMs);
        this.#send({ ...changes, timestamp, event_type: "price_change" }, step);
        return;
      }
      case "trade":
        this.venue.lastTradePrice = `0.${step.price}`;
        this.#send(
          { event_type: "last_trade_price", asset_id: assetId, price: `0.${step.price}` },
          step,
        );
        return;
      case "whole":
        this.#send(this.venue.message, step);
        return;
      case "ask":
        if (!this.book.isDue(this.nowMs + 60_000)) return;
        this.book.beginFetch();
        this.#answer = structuredClone(this.venue.summary);
        return;
      case "answer":
        this.#arrive(step.isRefused);
        return;
      case "reconnect":
        this.#late.splice(0);
        this.book.unfollow(this.nowMs);
        this.#send(this.venue.message, { isLost: false, isLate: false });
        return;
      case "deliver_late":
        for (const { text, state } of this.#late.splice(0)) this.#deliver(text, state);
    }
  }

  /** Loads the book as usual: from the stream, then from a response. */
  begin(): void {
    for (const step of [{ kind: "reconnect" }, { kind: "ask" }] as const) this.play(step);
    this.play({ kind: "answer", isRefused: false });
  }

  /** Fetches the book until it is correct, as `OrderBooks` does. */
  settle(): void {
    this.play({ kind: "reconnect" });
    for (let round = 0; round < 3; round += 1) {
      this.nowMs += 60_000;
      this.play({ kind: "ask" });
      this.play({ kind: "answer", isRefused: false });
    }
  }

  #wouldCross({ side, price, size }: { side: VenueSide; price: number; size: number }): boolean {
    if (size === 0) return false;
    const other = Number(side === "BUY" ? this.venue.bestAsk : this.venue.bestBid);
    return side === "BUY" ? price / 10 >= other : price / 10 <= other;
  }

  #arrive(isRefused: boolean): void {
    const answer = this.#answer;
    this.#answer = null;
    if (answer === null) return;
    if (isRefused) this.book.failFetch(this.nowMs, 0);
    else {
      const snapshot = parseSnapshot(answer);
      assert(snapshot !== null);
      const text = [snapshot.bids, snapshot.asks].map(textOfLevels).join(" | ");
      this.#note({ timestampMs: snapshot.timestampMs, text });
      this.book.applyAnswer(snapshot, this.nowMs);
    }
  }

  #send(message: unknown, { isLost, isLate }: { isLost: boolean; isLate: boolean }): void {
    if (isLost) return;
    const state = { timestampMs: this.venue.timestampMs, text: venueText(this.venue) };
    const sent = { text: JSON.stringify(message), state };
    if (isLate) this.#late.push(sent);
    else this.#deliver(sent.text, state);
  }

  #deliver(text: string, state: Stage["newest"]): void {
    const { book, nowMs } = this;
    for (const event of parseBookMessage(text)) {
      if (event.kind !== "fact") this.#note(state);
      if (event.kind === "book") book.applySnapshot(event, nowMs);
      else if (event.kind === "changes") book.applyChanges(event, nowMs);
      else if (event.kind === "fact") book.applyFact(event.fact, nowMs);
    }
  }

  #note(state: Stage["newest"]): void {
    if (state.timestampMs >= this.newest.timestampMs) this.newest = state;
  }
}

function textOfLevels(levels: readonly { price: number; size: number }[]): string {
  return levels
    .map(({ price, size }) => `${formatSafeMicros(price)}x${formatSafeMicros(size)}`)
    .join();
}

function toText({ bids, asks }: LiveBook): string {
  return [bids.worstFirst(), asks.worstFirst()].map(textOfLevels).join(" | ");
}

function venueText(venue: VenueBook): string {
  const sides = (["BUY", "SELL"] as const).map((side) =>
    venue
      .levels(side)
      .map(({ price, size }) => `${price}x${size}`)
      .join(),
  );
  return sides.join(" | ");
}

test("whatever is lost or late, the book equals the venue's at the newest message or is stale", () => {
  const settings = propertySettings(2_000);
  let right = 0;
  fc.assert(
    fc.property(anySteps, fc.boolean(), fc.nat({ max: 4 }), (steps, begins, everyOther) => {
      const stage = new Stage();
      if (begins) stage.begin();
      for (const [index, step] of steps.entries()) {
        stage.play(step);
        // Hashes are compared when the book is read, which can be later.
        if (index % (everyOther + 1) > 0 || stage.book.staleReason(stage.nowMs) !== null) continue;
        right += 1;
        assert.equal(toText(stage.book), stage.newest.text);
      }
      stage.settle();
      assert.equal(stage.book.staleReason(stage.nowMs), null);
      assert.equal(toText(stage.book), venueText(stage.venue));
    }),
    settings,
  );
  assert.ok(right > settings.numRuns / 4, `only ${right} states were right`);
});

test("a copy built from the changes equals the book until it becomes stale", () => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      const stage = new Stage();
      const copy = new VenueBook({ assetId, market: "0x01", timestampMs: 0 });
      let isGood = false;
      const take: BookListener = ({ bids, asks }, changes) => {
        const isWhole = changes === null || !isGood;
        isGood = stage.book.staleReason(stage.nowMs) === null;
        if (!isGood) return;
        if (isWhole) {
          for (const side of ["BUY", "SELL"] as const)
            for (const { price } of copy.levels(side)) copy.set(side, price, "0");
        }
        const all = [
          ...bids.worstFirst().map((level) => ({ ...level, side: "bid" as const })),
          ...asks.worstFirst().map((level) => ({ ...level, side: "ask" as const })),
        ];
        for (const { side, price, size } of isWhole ? all : changes)
          copy.set(
            side === "bid" ? "BUY" : "SELL",
            formatSafeMicros(price),
            formatSafeMicros(size),
          );
        assert.equal(venueText(copy), toText(stage.book));
      };
      stage.book.listeners.add(take);
      stage.begin();
      for (const step of steps) {
        stage.play(step);
        const isRight = stage.book.staleReason(stage.nowMs) === null;
        if (isRight && isGood) assert.equal(venueText(copy), toText(stage.book));
      }
    }),
    propertySettings(500),
  );
});

test("the hash of a change can include or omit a trade that is reported after it", () => {
  const faults: StaleReason[] = [];
  const stage = new Stage(new HashTrust(), (reason) => faults.push(reason));
  stage.book.listeners.clear();
  stage.begin();
  const change = { kind: "change", side: "BUY", isLost: false, isLate: false } as const;
  const trade = { kind: "trade", price: 3, isLost: false, isLate: false } as const;
  // The book is not read before the trade is sent.
  stage.play({ ...change, price: 4, size: 2 });
  stage.play(trade);
  assert.equal(stage.book.staleReason(stage.nowMs), null);
  // The venue's hash includes the trade immediately, but the message of the trade comes last.
  stage.venue.lastTradePrice = "0.2";
  stage.play({ ...change, price: 3, size: 2 });
  stage.play({ ...trade, price: 2 });
  assert.equal(stage.book.staleReason(stage.nowMs), null);
  assert.deepEqual(faults, []);
});

test("hashes that never match are no longer checked, and books are fetched again regularly", () => {
  const trust = new HashTrust();
  const stage = new Stage(trust);
  Object.defineProperty(stage.venue, "minOrderSize", { get: () => "5.0000000" });
  for (let round = 0; round < venueLimits.bookFalseAlarmsMax; round += 1) {
    stage.nowMs += 60_000;
    stage.play({ kind: "ask" });
    stage.play({ kind: "answer", isRefused: false });
  }
  assert.equal(trust.isUsable("v1_untraded"), false);
  stage.settle();
  assert.equal(stage.book.staleReason(stage.nowMs), null);
  const change = { kind: "change", side: "BUY", isLost: false, isLate: false } as const;
  stage.play({ ...change, price: 4, size: 2 });
  assert.equal(stage.book.staleReason(stage.nowMs), null);
  assert.equal(toText(stage.book), "0.4x2 | ");
  stage.nowMs += venueLimits.bookRereadMsMax + 1_000;
  assert.equal(stage.book.isDue(stage.nowMs), true);
});
