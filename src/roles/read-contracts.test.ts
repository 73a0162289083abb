import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cleanUp } from "../../test/support/clean-up.ts";
import { polygonContracts } from "../contracts/polygon-contracts.ts";
import { readContracts } from "./read-contracts.ts";

test("reads a file as an editor on Windows writes it", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true }));
  const path = join(folder, "contracts.json");
  const lines = JSON.stringify(polygonContracts, null, 2).split("\n");
  await writeFile(path, `\uFEFF${lines.join("\r\n")}`);
  assert.deepEqual(
    await readContracts({ contractsFile: path, wallets: "on" }),
    await readContracts({ contractsFile: null, wallets: "on" }),
  );
});
