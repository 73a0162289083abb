import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { logsOfBlocks } from "../endless-node.ts";
import { startPostgres, stopPostgres } from "./postgres.ts";

/** Another indexer from npm, with PostgreSQL. */
export type Peer = {
  readonly name: string;
  readonly program: string;
  readonly package: string;
  /** The number of blocks that gives a stable rate and keeps a round under a minute. */
  readonly blocksMax: number;
};

export const peers: readonly Peer[] = [
  {
    name: "Subsquid",
    program: "subsquid.ts",
    package: "@subsquid/evm-processor",
    blocksMax: 4500,
  },
  { name: "Ponder", program: "ponder.ts", package: "ponder", blocksMax: 2000 },
];

/** The result of a round. Processor seconds are per million logs and include PostgreSQL. */
export type PeerRound = { readonly logsPerSecond: number; readonly cpuSeconds: number };

/** Ponder treats a Polygon block as final only when 200 more blocks exist. */
const aboveBlocks = 250;
const timeoutMs = 180_000;
const ticksPerSecond = 100;

/**
 * Lets a peer index the first blocks of the node's chain into a separate PostgreSQL. Returns `null` if its packages are
 * not installed. As for the service, the time is from the start of the process, with the database running, until
 * everything can be queried.
 */
export async function measurePeer(
  peer: Peer,
  chain: { readonly rpcUrl: string; readonly blocks: number },
): Promise<PeerRound | null> {
  if (!existsSync(getPath(`node_modules/${peer.package}`))) return null;
  const blocks = Math.min(chain.blocks - aboveBlocks, peer.blocksMax);
  if (blocks <= 0) throw new Error(`a chain of ${chain.blocks} blocks is too short for a peer`);
  const postgres = await startPostgres();
  try {
    const startedAt = performance.now();
    const words = [getPath(peer.program), chain.rpcUrl, postgres.folder, String(blocks - 1)];
    const child = spawn(process.execPath, words, {
      env: { SQD_ERROR: "*", PONDER_TELEMETRY_DISABLED: "1", NODE_NO_WARNINGS: "1" },
      stdio: ["ignore", "pipe", "inherit"],
      timeout: timeoutMs,
    });
    try {
      const line = await firstLine(child);
      const seconds = (performance.now() - startedAt) / 1000;
      const logs = logsOfBlocks(blocks);
      if (line !== `${logs} rows`) throw new Error(`${peer.name} of ${logs} logs: ${line}`);
      const cpuSeconds = (await getCpuSeconds(child)) + (await getCpuSeconds(postgres.child));
      return { logsPerSecond: logs / seconds, cpuSeconds: (cpuSeconds * 1e6) / logs };
    } finally {
      child.kill("SIGKILL");
    }
  } finally {
    await stopPostgres(postgres);
  }
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("no standard output");
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error("the peer ended before it was done");
}

/** Processor seconds of the process and its children, including children that have ended. */
async function getCpuSeconds({ pid }: ChildProcess): Promise<number> {
  let ticks = 0;
  for (const entry of await readdir("/proc")) {
    if (!/^[0-9]+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, "utf8").catch(() => "");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
    if (Number(entry) === pid) ticks += Number(endedUser) + Number(endedSystem);
    if (Number(entry) === pid || Number(fields[1]) === pid) ticks += Number(user) + Number(system);
  }
  return ticks / ticksPerSecond;
}

function getPath(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
