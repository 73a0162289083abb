import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import packageJson from "../package.json" with { type: "json" };

const name = "@foundry-rs/anvil";
const version = packageJson.devDependencies[name];

/**
 * Returns the path of the anvil binary. A checkout has it. The package does not, because only the demo needs it: the
 * first demo on a terminal offers to install it in the user's cache. Throws an error with the command to install it.
 */
export async function findAnvil(env: NodeJS.ProcessEnv, stop: AbortSignal): Promise<string> {
  const folder = join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "oddwire");
  const find = () => resolveAnvil(import.meta.url) ?? resolveAnvil(join(folder, "package.json"));
  const existing = find();
  if (existing !== null) return existing;
  const words = ["install", "--no-save", "--prefix", folder, `${name}@${version}`];
  const needed = "The demo needs Anvil, a local chain of 43 MB.";
  const advice = `Install it with: npm ${words.join(" ")}`;
  if (!process.stdin.isTTY) throw new Error(`${needed} ${advice}`);
  const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const question = `${needed} Install it in ${folder} with npm? [Y/n] `;
  const answer = await lines.question(question, { signal: stop }).finally(() => lines.close());
  if (!/^(?:y|yes)?$/i.test(answer.trim())) throw new Error(advice);
  spawnSync("npm", words, { stdio: "inherit", env });
  const installed = find();
  if (installed === null) throw new Error(`Anvil was not installed. ${advice}`);
  return installed;
}

/** Returns the path of the binary that a file would find. Each platform has its own package, next to the main one. */
function resolveAnvil(from: string): string | null {
  const { platform } = process;
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  try {
    const main = createRequire(from).resolve(`${name}/package.json`);
    const own = createRequire(main).resolve(`${name}-${platform}-${arch}/package.json`);
    return join(dirname(own), "bin/anvil");
  } catch {
    return null;
  }
}
