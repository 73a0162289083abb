/**
 * Reads the logs of an `eth_getLogs` straight from the bytes of an answer. Nodes write every log of
 * an answer alike, so the order of the members is learnt from the first one and expected of all
 * others. Whatever is not exactly as expected is left to `JSON.parse` and `parse-log.ts`, which read
 * the same of what is read here: a test holds the two against each other.
 */
import type { Address, Hash } from "../base/ids.ts";
import type { RawLog } from "./log.ts";
import { LogBytes, mismatch, nothingBefore, type TextAt } from "./log-bytes.ts";
import { type LogLayout, learnLayout } from "./log-layout.ts";
import { logsPerBlockMax, ParsedLogs } from "./parse-log.ts";

const quote = 0x22;
const comma = 0x2c;
const bracket = 0x5d;
const betweenTopics = Buffer.of(quote, comma, quote);

/**
 * The logs of the list whose bracket is at `start`, and where it ends; `null` when it is empty, or
 * not as most nodes write it. The texts of a log are slices of a longer one, which they keep alive.
 */
export function scanLogs(
  body: Buffer,
  start: number,
): { readonly logs: ParsedLogs; readonly end: number } | null {
  const layout = learnLayout(body, start + 1);
  if (layout === null) return null;
  try {
    return new LogScan(body, start + 1, layout).run();
  } catch (thrown) {
    if (thrown === mismatch) return null;
    throw thrown;
  }
}

/** Takes one member after the other into its fields, which hold the log before until then. */
class LogScan {
  readonly #bytes: LogBytes;
  readonly #layout: LogLayout;
  /** Contracts and events are few, so that all logs of an answer share their texts. */
  readonly #addresses = new Map<number, TextAt>();
  readonly #topics0 = new Map<number, TextAt>();
  #address = "";
  #topics: Hash[] = [];
  #data = "";
  #blockHash = nothingBefore;
  #txHash = nothingBefore;
  #blockNumber = 0;
  #timestamp = 0;
  #txIndex = 0;
  #logIndex = 0;

  constructor(body: Buffer, start: number, layout: LogLayout) {
    this.#bytes = new LogBytes(body, start);
    this.#layout = layout;
  }

  run(): { logs: ParsedLogs; end: number } {
    const bytes = this.#bytes;
    const { members, tail, hasTimes } = this.#layout;
    const logs: RawLog[] = [];
    const timestamps: number[] = [];
    for (let mark = comma; mark !== bracket; mark = bytes.next()) {
      if (mark !== comma) throw mismatch;
      for (const { name, lead } of members) {
        bytes.expect(lead);
        this.#take(name);
      }
      bytes.expect(tail);
      logs.push(this.#log());
      if (hasTimes) timestamps.push(this.#timestamp);
    }
    return { logs: new ParsedLogs(logs, hasTimes ? timestamps : null), end: bytes.at };
  }

  #take(name: LogLayout["members"][number]["name"]): void {
    const bytes = this.#bytes;
    switch (name) {
      case "address":
        this.#address = bytes.oneOf(42, this.#addresses);
        return;
      case "topics":
        this.#topics = this.#readTopics();
        return;
      case "data":
        this.#data = bytes.data();
        return;
      case "blockHash":
        this.#blockHash = bytes.known(66, this.#blockHash);
        return;
      case "transactionHash":
        this.#txHash = bytes.known(66, this.#txHash);
        return;
      case "blockNumber":
        this.#blockNumber = bytes.quantity();
        return;
      case "blockTimestamp":
        this.#timestamp = bytes.quantity();
        return;
      case "transactionIndex":
        this.#txIndex = bytes.quantity();
        return;
      case "logIndex":
        this.#logIndex = bytes.quantity();
        if (this.#logIndex >= logsPerBlockMax) throw mismatch;
        return;
      case "removed": // all that is expected stands in its lead
    }
  }

  #readTopics(): Hash[] {
    const bytes = this.#bytes;
    const topics = [bytes.oneOf(66, this.#topics0) as Hash];
    while (bytes.skip(betweenTopics)) {
      if (topics.length === 4) throw mismatch;
      topics.push(bytes.hex(66) as Hash);
    }
    return topics;
  }

  #log(): RawLog {
    return {
      address: this.#address as Address,
      topics: this.#topics,
      data: this.#data,
      blockNumber: this.#blockNumber,
      blockHash: this.#blockHash.text as Hash,
      txHash: this.#txHash.text as Hash,
      txIndex: this.#txIndex,
      logIndex: this.#logIndex,
    };
  }
}
