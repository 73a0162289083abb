import type { EndpointPool } from "../rpc/endpoint-pool.ts";
import type { BlockLogs } from "../verify/block-logs.ts";
import type { FinalBlockCheck } from "./final-block-check.ts";
import type { HeadWatch } from "./head-watch.ts";
import type { UnfinalizedChain } from "./unfinalized-chain.ts";

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
