import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { compileContracts } from "../../demo/compile-contracts.ts";

const artifactsDir = new URL("../../demo/artifacts/", import.meta.url);

test("the stored artifacts of the demo contracts equal those compiled from the sources", () => {
  const compiled = compileContracts();
  const fileNames = [...compiled.keys()].map((name) => `${name}.json`);
  assert.deepEqual(readdirSync(artifactsDir).toSorted(), fileNames.toSorted());
  for (const [name, text] of compiled) {
    const stored = readFileSync(new URL(`${name}.json`, artifactsDir), "utf8");
    assert.ok(stored === text, `${name} differs: run node demo/compile-contracts.ts`);
  }
});
