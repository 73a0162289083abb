import type { EndpointPool } from "./rpc/endpoint-pool.ts";
import type { FinalBlockCheck } from "./sync/final-block-check.ts";
import type { HeadWatch } from "./sync/head-watch.ts";
import type { UnfinalizedChain } from "./sync/unfinalized-chain.ts";
import type { BlockLogs } from "./verify/block-logs.ts";

/** The parts of a chain source that those built on them share. */
export type ChainParts = {
  readonly pool: EndpointPool;
  readonly blockLogs: BlockLogs;
  readonly watch: HeadWatch;
  readonly finalBlockCheck: FinalBlockCheck;
  /** The unfinalized blocks of the consumer, and its last final block. */
  readonly unfinalized: UnfinalizedChain;
};

/** The parts with which final ranges are read. */
export type ReadParts = Pick<ChainParts, "pool" | "blockLogs">;
