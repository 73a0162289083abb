import { yieldToEventLoop } from "../../base/time/turns.ts";
import type { Packet } from "../frames/packet.ts";
import { answerFrame, publicSeq, reorgFrame, snapshotFrame } from "../frames/server-frames.ts";
import { type Entry, pageThrough } from "./channel.ts";
import type { History, HistoryPage } from "./history.ts";
import type { Subscription, Topic } from "./topic.ts";

/** The connection that receives the data of a subscription. */
export type Receiver = {
  /** Sends events. The live events of a block come in one packet. */
  deliver(packet: Packet, isReplay?: boolean): void;
  /** Sends a frame after all data delivered before it. */
  sendText(text: string): void;
  /** Resolves when the client can take more data, or is gone. */
  whenRoom(): Promise<void>;
  readonly isClosed: boolean;
  /** Closes the connection after a failure. The client reconnects. */
  fail(thrown: unknown): void;
};

/** The start of a subscription. Rows after `safePosition` may have been reverted since the client received them. */
export type Start = {
  readonly begin: number;
  readonly safePosition: number;
  /** Whether the client resumes from a position. */
  readonly isReplay: boolean;
  readonly snapshotRows: number;
};

/**
 * A client's cursor over the log of a channel. While live, new blocks are pushed to it. Otherwise it reads page by
 * page. It goes live when a page ends at the end of the log, so that no row is missed or sent twice.
 */
export class LogSubscription implements Subscription {
  readonly topic: Topic;
  readonly begin: number;
  readonly #safePosition: number;
  readonly #history: History;
  readonly #receiver: Receiver;
  /** The `seq` of the last frame sent, which is the `prev_seq` of the next event. */
  #sent: number;
  /** Everything up to this position was sent. Valid only while reading; when live, this is the end of the log. */
  #readTo: number;
  #state: "live" | "reading" | "ended" = "reading";
  #isReplay: boolean;
  /** Whether the state that was sent last may have changed since, even if nothing is after it. */
  #mustRestate: boolean;
  #snapshotRows: number;
  #reading: Promise<void> = Promise.resolve();

  constructor(parts: { topic: Topic; history: History; receiver: Receiver; start: Start }) {
    const { begin, safePosition, isReplay, snapshotRows } = parts.start;
    this.topic = parts.topic;
    this.#history = parts.history;
    this.#receiver = parts.receiver;
    this.begin = begin;
    this.#safePosition = safePosition;
    this.#sent = begin;
    this.#readTo = begin;
    this.#isReplay = isReplay;
    this.#snapshotRows = snapshotRows;
    // A client that left after a reorg may not have received the states that were sent again.
    this.#mustRestate = isReplay && this.#isState;
  }

  /** Whether the channel sends states instead of the entries of a log. */
  get #isState(): boolean {
    return this.topic.channel.toEntries === undefined;
  }

  start(): void {
    if (this.#sent > this.#safePosition) this.#goBack(this.#safePosition, []);
    this.#startReading();
  }

  async end(): Promise<void> {
    this.#state = "ended";
    await this.#reading;
  }

  report(entries: readonly Entry[]): void {
    if (this.#state === "live") this.#sendEntries(entries);
  }

  readOn(from: number): void {
    if (this.#state !== "live") return;
    this.#readTo = from;
    this.#startReading();
  }

  rewind(to: number, reverted: readonly string[]): void {
    if (this.#state === "ended") return;
    // While reading, some of the reverted rows were not sent yet. Their ids do no harm.
    if (this.#sent > to) this.#goBack(to, reverted);
    else if (this.#state === "reading") this.#readTo = Math.min(this.#readTo, to);
  }

  #goBack(to: number, reverted: readonly string[]): void {
    this.#sent = to;
    this.#readTo = Math.min(this.#readTo, to);
    this.#receiver.sendText(reorgFrame(this.topic.id, { rewindTo: to, reverted }));
    if (!this.#isState) return;
    // A state, unlike a log, changes with a reorg even if no block follows.
    this.#mustRestate = true;
    this.readOn(to);
  }

  #startReading(): void {
    this.#state = "reading";
    this.#reading = this.#read().catch((thrown: unknown) => this.#receiver.fail(thrown));
  }

  async #read(): Promise<void> {
    // A delivery in progress finishes first.
    await Promise.resolve();
    if (this.#snapshotRows > 0) await this.#sendSnapshot();
    while (this.#isOpen) {
      const end = this.#history.getEnd(this.topic.channel);
      if (this.#readTo > end || (this.#readTo === end && !this.#mustRestate)) {
        if (this.#catchUp()) return;
        await this.#history.whenChanged();
        continue;
      }
      await this.#receiver.whenRoom();
      if (!this.#isOpen) return;
      const { reorgs } = this.#history;
      const restate = this.#mustRestate;
      const page = await this.#history.inTurn(async () =>
        this.#isOpen ? this.#history.read(this.topic, this.#readTo, restate) : null,
      );
      if (page === null || !this.#isOpen || reorgs !== this.#history.reorgs) continue;
      await this.#sendPage(page);
    }
  }

  get #isOpen(): boolean {
    return this.#state === "reading" && !this.#receiver.isClosed;
  }

  /** Sends a page slice by slice, with a turn of the event loop before each. Stops when a reorg reverts blocks. */
  async #sendPage({ slices, readTo }: HistoryPage): Promise<void> {
    const { reorgs } = this.#history;
    for (const entries of slices) {
      await this.#receiver.whenRoom();
      await yieldToEventLoop();
      if (!this.#isOpen || reorgs !== this.#history.reorgs) return;
      this.#sendEntries(entries);
      this.#readTo = this.#sent;
    }
    this.#readTo = readTo;
    this.#mustRestate = false;
  }

  #sendEntries(entries: readonly Entry[]): void {
    const chain = { previous: this.#sent, isReplay: this.#isReplay };
    const packet = this.topic.getPacket(entries, chain);
    this.#sent = packet.lastSeq;
    this.#receiver.deliver(packet, this.#isReplay);
  }

  /** Goes live at the end of the log. Returns `false` if the client is ahead of it and must wait. */
  #catchUp(): boolean {
    if (this.#readTo > this.#history.getEnd(this.topic.channel)) return false;
    this.#state = "live";
    if (this.#isReplay) {
      this.#isReplay = false;
      const seq = publicSeq(this.#sent);
      const id = this.topic.id;
      this.#receiver.sendText(answerFrame("replay_complete", null, { subscription_id: id, seq }));
    }
    return true;
  }

  async #sendSnapshot(): Promise<void> {
    const count = this.#snapshotRows;
    this.#snapshotRows = 0;
    for (;;) {
      const { reorgs } = this.#history;
      const seq = this.#readTo;
      // A client can resume ahead of the log, and often ahead of its final part.
      const through = Math.min(seq, this.#history.getEnd(this.topic.channel));
      const page = { ...pageThrough(through, count), restate: false };
      const entries = await this.#history.inTurn(async () =>
        this.#isOpen ? this.topic.channel.read(page) : null,
      );
      if (entries === null || !this.#isOpen) return;
      if (reorgs !== this.#history.reorgs) continue;
      const rows = entries.map(({ json }) => json).toReversed();
      this.#receiver.sendText(snapshotFrame(this.topic.id, { seq, rows }));
      return;
    }
  }
}
