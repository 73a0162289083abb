import { createHmac } from "node:crypto";
import type { AccessAudit } from "./access-audit.ts";
import type { Keys } from "./api-key.ts";
import type { IpBlocks } from "./ip-blocks.ts";
import type { RateWindow } from "./rate-window.ts";

/**
 * Who may call, and how much: of one process (`local/`), or of all nodes of a cluster (`cluster/`). The contract is
 * the same; what several nodes have to agree on takes a round trip there.
 */
export type AccessStore = {
  readonly keys: Keys;
  readonly ipBlocks: IpBlocks;
  readonly audit: AccessAudit;
  /** Requests by the id of their key. */
  readonly keyWindow: RateWindow;
  /** Requests without a key by `ipBucketOf`. */
  readonly ipWindow: RateWindow;
  /** Failed authentications and abuse. */
  readonly offenseWindow: RateWindow;
  /** A 32-byte secret for another purpose, the same on every start and on every node. */
  deriveSecret(purpose: string): Buffer;
  /** Writes what is still in memory, where that is possible. Does nothing the second time. */
  close(): Promise<void>;
};

/** The secret of a purpose, from the one that keys are hashed with. */
export function deriveSecret(pepper: string, purpose: string): Buffer {
  return createHmac("sha256", pepper).update(`oddwire ${purpose}`).digest();
}
