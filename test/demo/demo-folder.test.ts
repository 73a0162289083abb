import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DemoFolder } from "../../demo/demo-folder.ts";
import { cleanUp } from "../support/clean-up.ts";

test("a second demo gets the second folder, and a third is refused", (t) => {
  const parent = mkdtempSync(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rmSync(parent, { recursive: true }));
  const paths = [join(parent, "one"), join(parent, "two")];
  const [first, second] = [DemoFolder.open(paths), DemoFolder.open(paths)];
  assert.deepEqual([first.path, second.path], paths);
  assert.notEqual(first.access.key, second.access.key);
  assert.throws(() => DemoFolder.open(paths), /a demo runs already in .*one, .*two/);
  first.close();
  assert.equal(DemoFolder.open(paths).path, paths[0], "then its folder is free");
});
