/** The first start with an empty folder: flags, `.env`, the first key and the welcome line. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { parseKey } from "../../src/access/key-format.ts";
import { cli } from "../support/cli.ts";
import { runCommand } from "../support/run-command.ts";

type Welcome = Readonly<Record<string, string>>;

const folder = await mkdtemp(join(tmpdir(), "oddwire-first-"));
after(() => rm(folder, { recursive: true }));

/** Starts the service in the folder, passes its first line to `use`, and stops it. */
async function getWelcome(
  flags: string[],
  use: (welcome: Welcome) => Promise<void>,
): Promise<void> {
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, [cli, "serve", ...flags], {
    cwd: folder,
    env: { PATH, HOME, TMPDIR, ODDWIRE_LOG_LEVEL: "silent" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  try {
    const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
    await use(JSON.parse(String(value)) as Welcome);
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}

test("an empty folder gets an admin key that works and is shown only once", async () => {
  // As an editor on Windows writes it.
  const lines = ["\uFEFFODDWIRE_RPC_URLS=http://127.0.0.1:1", "ODDWIRE_PORT=x", ""];
  await writeFile(join(folder, ".env"), lines.join("\r\n"));
  const flags = ["--port", "0", "--data-dir", "kept", "--start-block", "5"];
  await getWelcome(flags, async (welcome) => {
    const { listening, explorer, indexing, data, reachable, admin_key = "" } = welcome;
    assert.equal(explorer, `${listening}/`);
    assert.match(indexing ?? "", /^Polymarket on Polygon from block 5, through 127\.0\.0\.1:1$/);
    assert.equal(data, join(folder, "kept"));
    assert.match(reachable ?? "", /^from this machine only/);
    assert.equal(parseKey(admin_key)?.scope, "admin");
    const headers = { authorization: `Bearer ${admin_key}` };
    assert.equal((await fetch(`${listening}/v1/keys`, { headers })).status, 200);
    const status = await runCommand(["status"], { ODDWIRE_URL: listening ?? "" });
    assert.equal(status.code, 1, status.stderr);
    assert.match(
      status.stdout,
      / is not ready \(version [\d.]+, up for \d+ s\)\n\nCHECK +STATE +DETAIL\n/,
    );
    assert.match(status.stdout, /not ok +no /);
  });
  await getWelcome(flags, async (welcome) => assert.equal(welcome["admin_key"], undefined));
  await writeFile(join(folder, ".env"), "ODDWIRE_RPC_URLS=http://127.0.0.1:1\n");
  await getWelcome(flags, async () => {});
  assert.deepEqual((await readdir(folder)).toSorted(), [".env", "kept"]);
  assert((await readdir(join(folder, "kept"))).includes("compiled"));
});
