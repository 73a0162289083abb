/** Servers in child processes that print their address. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { contractsFromBlock0 } from "./endless-node.ts";

/** A running server. */
export type ChildServer = { readonly child: ChildProcess; readonly url: string };

const running = new Set<ChildProcess>();

/**
 * Starts a script of `bench/`, or another script by its path from there, that prints its URL bare or as the service
 * does.
 */
export async function startServer(
  script: string,
  parameters: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<ChildServer> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...parameters], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const url = line.startsWith("{") ? (JSON.parse(line) as { listening: string }).listening : line;
    return { child, url };
  }
  throw new Error(`${script} ended before it was ready`);
}

/** Starts the service on a data directory, for a chain that has our contracts from block 0. */
export async function startService(
  dir: string,
  settings: Readonly<Record<string, string>>,
): Promise<ChildServer> {
  const contracts = join(dir, "contracts.json");
  await writeFile(contracts, JSON.stringify(contractsFromBlock0()));
  return startServer("../src/cli.ts", ["serve"], {
    PATH: process.env["PATH"],
    ODDWIRE_START_BLOCK: "0",
    ODDWIRE_CONTRACTS_FILE: contracts,
    ODDWIRE_DATA_DIR: join(dir, "data"),
    ODDWIRE_PORT: "0",
    ODDWIRE_LOG_LEVEL: "error",
    ...settings,
  });
}

/** Stops a service, which writes to its folder until it has ended. */
export async function stopService({ child }: ChildServer): Promise<void> {
  const stopped = once(child, "exit");
  child.kill("SIGTERM");
  await stopped;
}

/** Kills all started servers without notice. */
export function killServers(): void {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
}
