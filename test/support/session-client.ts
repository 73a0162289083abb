/** A session without sockets. Its carrier parses frames and can stop accepting them. */
import assert from "node:assert/strict";
import type { VerifiedKey } from "../../src/access/api-key.ts";
import { describeComponents, refTo } from "../../src/api/docs/describe-schema.ts";
import { streamFrames } from "../../src/api/docs/stream-frames.ts";
import { AppError } from "../../src/base/errors.ts";
import { openLog } from "../../src/base/log.ts";
import type { Hub } from "../../src/stream/hub/hub.ts";
import { BatchFlusher } from "../../src/stream/session/batch-flusher.ts";
import { Session, type SessionParts } from "../../src/stream/session/session.ts";
import { newStreamMeter } from "../../src/stream/session/stream-meter.ts";
import { compileClosed } from "./api-contract.ts";
import { type MovableClock, movableClock, testFreshness, testQuotas } from "./open-test-server.ts";

type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

const testKey: VerifiedKey = {
  id: "test",
  scope: "read",
  fingerprint: "test",
  requestsPerMinute: 1000,
};

/** The parts that sessions of one hub share. `close` it after the test. */
export type SharedParts = Omit<SessionParts, "keys"> & { readonly clock: MovableClock };

export function sharedParts(hub: Hub): SharedParts {
  return {
    hub,
    flusher: new BatchFlusher(),
    quotas: testQuotas,
    freshness: () => testFreshness,
    clock: movableClock(),
    meter: newStreamMeter(),
    log: openLog({ level: "silent" }),
  };
}

const schemas = describeComponents();
const frameSchemas = Object.keys(streamFrames).map((name) => refTo("schemas", name));
const documented = compileClosed({ anyOf: frameSchemas }, schemas);

/** A session whose frames are checked against the OpenAPI document. */
export class SessionClient {
  readonly session: Session;
  readonly frames: Frame[] = [];
  closed: { readonly code: number; readonly reason: string } | null = null;
  pings = 0;
  /** Whether the carrier accepts more bytes. Bytes that it was given before are delivered. */
  takes = true;
  /** Whether the key is valid; set it to false to end the key. */
  isKeyLive = true;

  constructor(
    parts: Omit<SessionParts, "keys">,
    options: { key?: VerifiedKey | null; batch?: boolean; isPublic?: boolean } = {},
  ) {
    const { key = testKey, batch = false, isPublic = false } = options;
    const carrier = {
      write: (bytes: Buffer): boolean => {
        assert(this.closed === null, "nothing is written after the close");
        this.#take(bytes);
        return this.takes;
      },
      close: (code: number, reason: string) => {
        assert(Buffer.byteLength(reason) <= 123, "the reason fits into a close frame");
        this.closed = { code, reason };
      },
      ping: () => {
        this.pings += 1;
      },
      authenticate: (value: string) => (value === "good" ? testKey : new AppError("UNAUTHORIZED")),
    };
    const keys = { isLive: () => this.isKeyLive, isVerified: true };
    const encoding = { batch, compress: "none" } as const;
    this.session = new Session({ ...parts, keys }, carrier, {
      connectionId: "c",
      encoding,
      key,
      isPublic,
    });
    this.session.open();
  }

  send(frame: unknown): void {
    this.session.receive(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** Accepts the waiting bytes. */
  drain(): void {
    this.takes = true;
    this.session.drained();
  }

  get closeCode(): number | null {
    return this.closed?.code ?? null;
  }

  /** Returns the frames of a type. */
  of(type: string): Frame[] {
    return this.frames.filter((frame) => frame.type === type);
  }

  get last(): Frame {
    const frame = this.frames.at(-1);
    assert(frame !== undefined, "there is a frame");
    return frame;
  }

  #takeFrames(frames: readonly Frame[]): void {
    for (const frame of frames)
      assert(documented.Check(frame), `not documented: ${JSON.stringify(frame)}`);
    this.frames.push(...frames);
  }

  #take(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const short = bytes.readUInt8(at + 1);
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      const length =
        head === 2
          ? short
          : head === 4
            ? bytes.readUInt16BE(at + 2)
            : Number(bytes.readBigUInt64BE(at + 2));
      const text = bytes.toString("utf8", at + head, at + head + length);
      if (text === "PONG") this.frames.push({ type: "PONG" });
      else this.#takeFrames([JSON.parse(text)].flat() as Frame[]);
      at += head + length;
    }
  }
}
