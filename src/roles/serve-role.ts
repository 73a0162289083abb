import { performance } from "node:perf_hooks";
import { Intake } from "../feed/intake.ts";
import { getStartBlock } from "../feed/start-block.ts";
import { Hub } from "../stream/hub/hub.ts";
import { appendToLake } from "./append-to-lake.ts";
import { serveEverything } from "./listen.ts";
import {
  openAccess,
  openAuditor,
  openBooks,
  openChain,
  openMetadata,
  openState,
  openWrittenFacts,
  type RoleStart,
  startIndexing,
} from "./open-parts.ts";

/** Where indexing continues: block numbers; `null` while they are not known. */
export type IndexingPosition = {
  /** The first block that is stored, or will be; `latest` is the head. */
  readonly firstBlock: number | "latest";
  /** Whether that is the first block of the contracts. */
  readonly isWhole: boolean;
  /** The last stored block; `null` in a new data directory. */
  readonly storedThrough: number | null;
  readonly head: number | null;
};

/** Opens the role `serve`: indexes the chain and serves it in one process. Returns its URL and where it indexes. */
export async function openServe(
  start: RoleStart,
): Promise<{ readonly url: string; readonly indexing: IndexingPosition }> {
  const { config, log, life } = start;
  // When each step of the start was done, in milliseconds since the process began.
  const doneAtMs: Record<string, number> = {};
  const record = (step: string) => {
    doneAtMs[step] = Math.round(performance.now());
  };
  record("modules");
  const chain = openChain(start);
  const facts = await openWrittenFacts(start);
  record("store");
  const storedThrough = facts.coverage?.last.number ?? null;
  const access = await openAccess(start);
  const state = await openState(start, facts);
  record("state");

  const books = openBooks(start);
  const marketMetadata = openMetadata(start, state);
  const hub = new Hub({ facts, state, books });
  const followed = { source: chain, facts, state, subscribers: hub };
  const intake = life.use(new Intake({ ...followed, config, log }));
  const auditor = await openAuditor(start, { facts, chain });
  const parts = { intake, chain, auditor, facts, state, books, marketMetadata };
  const url = await serveEverything(start, { access, hub, parts });
  record("listening");
  await startIndexing(start, parts);
  appendToLake(start, { facts, state });
  record("connected");
  log.info({ done_at_ms: doneAtMs }, "service started");
  const head = chain.head?.number ?? null;
  const firstBlock = facts.coverage?.fromBlock ?? getStartBlock(start);
  const isWhole = firstBlock !== "latest" && firstBlock <= start.contracts.genesisBlock;
  return { url, indexing: { firstBlock, isWhole, storedThrough, head } };
}
