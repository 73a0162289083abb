/** Servers as processes of their own, which print where they listen. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A server under way. */
export type ChildServer = { readonly child: ChildProcess; readonly url: string };

const running = new Set<ChildProcess>();

/** Starts a script of `bench/`, or another one by its path from there, that prints its URL, bare or as the service does. */
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

/** Ends all that were started, without a word of warning. */
export function killServers(): void {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
}
