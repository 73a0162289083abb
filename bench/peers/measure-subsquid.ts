import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { logsOfBlocks } from "../endless-node.ts";
import { startPostgres, stopPostgres } from "./postgres.ts";

/** Half a million logs: long enough for a rate, and a round takes less than a minute. */
const blocksMax = 4500;
const timeoutMs = 180_000;
const ticksPerSecond = 100;

/** What a squid took for a chain; processor seconds are those of one million logs, PostgreSQL's included. */
export type SubsquidRound = { readonly logsPerSecond: number; readonly cpuSeconds: number };

/**
 * Lets the squid index the first blocks of the node's chain into a PostgreSQL of its own; null when
 * the packages are not there. Like the service's, its time is from its start as a process, with
 * the database up, until everything can be asked for.
 */
export async function measureSubsquid(chain: {
  readonly rpcUrl: string;
  readonly blocks: number;
}): Promise<SubsquidRound | null> {
  if (!existsSync(pathOf("node_modules/@subsquid/evm-processor"))) return null;
  const blocks = Math.min(chain.blocks, blocksMax);
  const postgres = await startPostgres();
  try {
    const startedAt = performance.now();
    const arguments_ = [chain.rpcUrl, postgres.folder, String(blocks - 1)];
    const squid = spawn(process.execPath, [pathOf("subsquid.ts"), ...arguments_], {
      env: { SQD_ERROR: "*" },
      stdio: ["ignore", "pipe", "inherit"],
      timeout: timeoutMs,
    });
    try {
      const { rows } = JSON.parse(await firstLine(squid)) as { rows: number };
      const seconds = (performance.now() - startedAt) / 1000;
      const logs = logsOfBlocks(blocks);
      if (rows !== logs) throw new Error(`the squid has ${rows} rows of ${logs} logs`);
      const cpuSeconds = (await cpuSecondsOf(squid)) + (await cpuSecondsOf(postgres.child));
      return { logsPerSecond: logs / seconds, cpuSeconds: (cpuSeconds * 1e6) / logs };
    } finally {
      squid.kill("SIGKILL");
    }
  } finally {
    await stopPostgres(postgres);
  }
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("no standard output");
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error("the squid ended before it was done");
}

/** Of the process, its children, and those of them that have ended. */
async function cpuSecondsOf({ pid }: ChildProcess): Promise<number> {
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

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
