import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { readPepper } from "../../access/local/pepper.ts";
import { ConfigError } from "./config.ts";
import { makeDataDirectory } from "./make-data-directory.ts";

function assertRefused(run: () => void, words: RegExp): void {
  assert.throws(run, (thrown: unknown) => {
    assert(thrown instanceof ConfigError);
    assert.match(thrown.message, /^ODDWIRE_DATA_DIR cannot be used: /);
    assert.match(thrown.message, words);
    return true;
  });
}

describe("the data directory", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "oddwire-test-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("is made with its parents, and can exist already or be a link to a folder", () => {
    const path = join(folder, "a", "b");
    for (const _ of [1, 2]) makeDataDirectory(path, 0o700);
    assert.equal(statSync(path).mode & 0o777, 0o700);
    symlinkSync(path, join(folder, "link"));
    makeDataDirectory(join(folder, "link"));
  });

  describe("is refused where no directory can exist", () => {
    test("below /proc, where Node's recursive mkdir never returns", () => {
      assertRefused(() => makeDataDirectory("/proc/oddwire/data"), /ENOENT/);
    });

    test("below a file, in place of a file, in a loop of links, or with too long a name", () => {
      assertRefused(() => makeDataDirectory("/dev/null/data"), /ENOTDIR/);
      assertRefused(() => makeDataDirectory("/dev/null"), /EEXIST/);
      symlinkSync("loop", join(folder, "loop"));
      assertRefused(() => makeDataDirectory(join(folder, "loop", "data")), /ELOOP/);
      assertRefused(() => makeDataDirectory(join(folder, "x".repeat(300))), /ENAMETOOLONG/);
    });
  });

  describe("is refused when one of its files is", () => {
    const kinds: readonly (readonly [string, (path: string) => void, RegExp])[] = [
      ["a folder", (path) => mkdirSync(path), /is not a file; restore a backup/],
      ["a pipe", (path) => execFileSync("mkfifo", [path]), /is not a file; restore a backup/],
      [
        "a link to nothing",
        (path) => symlinkSync("nothing", path),
        /is not a file; restore a backup/,
      ],
      ["a link to itself", (path) => symlinkSync(path, path), /ELOOP/],
    ];
    for (const [what, make, words] of kinds) {
      for (const name of ["oddwire.json", "access.sqlite", "audit.json", "markets.sqlite"]) {
        test(`${what}: ${name}`, () => {
          make(join(folder, name));
          assertRefused(() => makeDataDirectory(folder), words);
        });
      }
      for (const side of ["access.sqlite-shm", "lock-journal", "markets.sqlite-wal"]) {
        test(`${what}: ${side}`, () => {
          make(join(folder, side));
          assertRefused(() => makeDataDirectory(folder), words);
        });
      }
      test(`${what}: pepper, but only once the pepper is read from it`, () => {
        make(join(folder, "pepper"));
        makeDataDirectory(folder);
        assertRefused(() => readPepper(folder), words);
      });
    }
  });

  test("is refused when its facts are a file or a link to nothing, and the message names them", () => {
    const facts = join(folder, "facts");
    const words = /\/facts is not a folder; restore a backup/;
    for (const make of [() => writeFileSync(facts, ""), () => symlinkSync("nothing", facts)]) {
      make();
      assertRefused(() => makeDataDirectory(folder), words);
      rmSync(facts);
    }
  });

  test("is refused, with the path of the file, when one of its files cannot be read", () => {
    readPepper(folder);
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "pepper"), 0);
    // Runs in another process: root can read everything, and a process that gives up root cannot become root again.
    const script = `
    const { readPepper } = await import(${JSON.stringify(import.meta.resolve("../../access/local/pepper.ts"))});
    if (process.getuid() === 0) process.setuid(65_534);
    readPepper(${JSON.stringify(folder)});
  `;
    const args = ["--input-type=module", "--eval", script];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    assert.equal(status, 1);
    assert.match(stderr, /ConfigError: ODDWIRE_DATA_DIR cannot be used: .*EACCES.*pepper/);
  });
});
