import type { Address, Hash } from "../../base/ids.ts";
import type { RawLog } from "../raw-log.ts";
import { type LogText, type TextSource, topicStride, writeLogText } from "./log-text.ts";

/** A log that stays in the bytes of its answer. Strings are made on demand while the source is open. */
export class ScannedLog implements RawLog, LogText {
  readonly address: Address;
  readonly topic0: Hash;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly txHash: Hash;
  readonly txIndex: number;
  readonly logIndex: number;
  readonly source: TextSource;
  readonly topicCount: number;
  readonly topicsAt: number;
  readonly dataAt: number;
  readonly dataEnd: number;

  constructor(parts: Omit<RawLog, "topics" | "data"> & LogText & { readonly topic0: Hash }) {
    this.address = parts.address;
    this.topic0 = parts.topic0;
    this.blockNumber = parts.blockNumber;
    this.blockHash = parts.blockHash;
    this.txHash = parts.txHash;
    this.txIndex = parts.txIndex;
    this.logIndex = parts.logIndex;
    this.source = parts.source;
    this.topicCount = parts.topicCount;
    this.topicsAt = parts.topicsAt;
    this.dataAt = parts.dataAt;
    this.dataEnd = parts.dataEnd;
  }

  get topics(): readonly Hash[] {
    return Array.from({ length: this.topicCount }, (_, index) => {
      const start = this.topicsAt + index * topicStride;
      return this.source.text(start, start + 66) as Hash;
    });
  }

  get data(): string {
    return this.source.text(this.dataAt, this.dataEnd);
  }
}

/** Returns the first topic; `undefined` for a log without topics. */
export function topic0Of(log: Pick<RawLog, "topics">): Hash | undefined {
  return log instanceof ScannedLog ? log.topic0 : log.topics[0];
}

/** Returns the text from which a log is decoded. */
export function textOf(log: RawLog): LogText {
  return log instanceof ScannedLog ? log : writeLogText(log);
}

/** Copies a log to plain strings, which need no source. */
export function plainLog(log: RawLog): RawLog {
  const { address, topics, data, blockNumber, blockHash, txHash, txIndex, logIndex } = log;
  return { address, topics, data, blockNumber, blockHash, txHash, txIndex, logIndex };
}
