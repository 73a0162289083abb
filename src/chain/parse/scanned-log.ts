import { type Address, type Hash, zeroHash } from "../../base/ids.ts";
import type { RawLog } from "../raw-log.ts";
import { type LogText, type TextSource, topicStride, writeLogText } from "./log-text.ts";

const noAddress = `0x${"0".repeat(40)}` as Address;

/** A log that stays in the bytes of its answer. Strings are made on demand while the source is open. */
export class ScannedLog implements RawLog, LogText {
  // `parse-body.ts` sets these fields, in the order in which the node wrote them.
  address: Address = noAddress;
  topic0: Hash = zeroHash;
  blockNumber = 0;
  blockHash: Hash = zeroHash;
  timestamp: number | null = null;
  txHash: Hash = zeroHash;
  txIndex = 0;
  logIndex = 0;
  topicCount = 0;
  topicsAt = 0;
  dataAt = 0;
  dataEnd = 0;
  readonly source: TextSource;

  constructor(source: TextSource) {
    this.source = source;
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
export function getTopic0(log: Pick<RawLog, "topics">): Hash | undefined {
  return log instanceof ScannedLog ? log.topic0 : log.topics[0];
}

/** Returns the text from which a log is decoded. */
export function toText(log: RawLog): LogText {
  return log instanceof ScannedLog ? log : writeLogText(log);
}

/** Copies a log to plain strings, which need no source. */
export function plainLog(log: RawLog): RawLog {
  const { address, topics, data, blockNumber, blockHash, txHash, txIndex, logIndex } = log;
  return { address, topics, data, blockNumber, blockHash, txHash, txIndex, logIndex };
}
