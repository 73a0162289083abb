import type { KeyObject } from "node:crypto";
import type { TokenId } from "../base/ids.ts";
import type { Coverage } from "../chain/raw-log.ts";
import type { TokenFacts } from "../market/market.ts";
import type { FactsIdentity } from "../storage/directory/identity.ts";
import type { Engine } from "../storage/engine/engine.ts";

/** What to export, and where to. */
export type LakeExport = {
  /** The folder of the lake, created if missing. */
  readonly folder: string;
  readonly engine: Engine;
  readonly coverage: Coverage;
  readonly identity: FactsIdentity;
  /** Returns what is known about a token now. */
  readonly getToken: (tokenId: TokenId) => TokenFacts;
  /** Encodes `markets/snapshot.parquet`; returns the file and its number of rows. */
  readonly encodeMarkets: () => Promise<{ readonly bytes: Uint8Array; readonly rows: number }>;
  /** A private key (Ed25519), also as PEM. */
  readonly signKey: KeyObject | string | null;
  /** The days to export, as YYYY-MM-DD, both inclusive; all final days by default. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** How many tables are encoded at the same time: 1 by default, which leaves a core to a service. */
  readonly tablesAtOnce?: number;
  /** Facts of one part, about; a test has smaller ones. */
  readonly partRows?: number;
  readonly signal?: AbortSignal;
  readonly onDay?: (day: { readonly date: string; readonly rows: number }) => void;
};
