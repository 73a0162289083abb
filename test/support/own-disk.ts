import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { cleanUp } from "./clean-up.ts";

const isCi = process.env["CI"] === "true";

/** Mounts a file system of the given size until the end of the test; `null` if mounting is not possible. */
export async function mountDisk(t: TestContext, megabytes: number): Promise<string | null> {
  const path = await mkdtemp(join(tmpdir(), "oddwire-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "oddwire-test", path], {
      stdio: "pipe",
    });
  } catch (thrown) {
    await rm(path, { recursive: true });
    if (isCi) throw thrown;
    return null;
  }
  cleanUp(t, async () => {
    execFileSync("umount", ["--lazy", path]);
    await rm(path, { recursive: true });
  });
  return path;
}

/** Fills the disk up to the last page of a file. Returns the path of the file that fills it. */
export async function fillUp(disk: string): Promise<string> {
  const path = join(disk, "ballast");
  const ballast = await open(path, "w");
  try {
    for (;;) await ballast.appendFile(Buffer.alloc(4096));
  } catch (thrown) {
    assert.equal((thrown as NodeJS.ErrnoException).code, "ENOSPC");
  } finally {
    await ballast.close();
  }
  return path;
}
