import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { cleanUp } from "../../test/support/clean-up.ts";
import { auditLimits } from "../base/config/limits.ts";
import { AuditLog } from "./audit-log.ts";

const equal = { kind: "equal", isFalseAlarm: false } as const;

function openFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "oddwire-audit-"));
  cleanUp(t, () => rmSync(folder, { recursive: true }));
  return folder;
}

/** Audits `count` ranges; returns the first block of each. */
async function audit(
  auditLog: AuditLog,
  covered: { from: number; to: number },
  count: number,
): Promise<number[]> {
  const froms: number[] = [];
  while (froms.length < count) {
    const range = auditLog.next(covered);
    assert(range !== null);
    await auditLog.record(range, equal, 1);
    froms.push(range.from);
  }
  return froms;
}

test("audits the newest ranges first, new ranges as they become final, and then begins the next round", async (t) => {
  const auditLog = await AuditLog.open(openFolder(t));
  assert.equal(auditLog.next({ from: 150, to: 170 }), null);
  assert.deepEqual(await audit(auditLog, { from: 150, to: 1049 }, 3), [900, 800, 700]);
  assert.deepEqual(await audit(auditLog, { from: 150, to: 1210 }, 3), [1000, 1100, 600]);
  assert.deepEqual(auditLog.status.audited, { from: 600, to: 1199 });
  assert.deepEqual(await audit(auditLog, { from: 150, to: 1210 }, 5), [500, 400, 300, 200, 150]);
  assert.deepEqual([auditLog.status.rounds, auditLog.status.audited?.from], [0, 100]);
  assert.deepEqual(await audit(auditLog, { from: 150, to: 1210 }, 2), [1100, 1000]);
  assert.equal(auditLog.status.rounds, 1);
});

for (const damage of ["", "{", "null", "{}", '{"ranges":1}']) {
  test(`a state that is "${damage}" is refused as damaged`, async (t) => {
    const folder = openFolder(t);
    await audit(await AuditLog.open(folder), { from: 0, to: 999 }, 1);
    await AuditLog.open(folder);
    writeFileSync(join(folder, "audit.json"), damage);
    const words = /audit\.json is damaged; restore a backup, or delete it/;
    await assert.rejects(AuditLog.open(folder), words);
  });
}

test("a process that is killed while it writes leaves the state, and no file that stays", async (t) => {
  const folder = openFolder(t);
  await audit(await AuditLog.open(folder), { from: 0, to: 999 }, 1);
  const die = `
    const { readdirSync } = await import("node:fs");
    const { AuditLog } = await import(${JSON.stringify(new URL("audit-log.ts", import.meta.url).href)});
    const [folder] = process.argv.slice(1);
    const auditLog = await AuditLog.open(folder);
    const before = readdirSync(folder).length;
    const poll = () => {
      if (readdirSync(folder).length > before) process.kill(process.pid, "SIGKILL");
      setImmediate(poll);
    };
    poll();
    for (;;) await auditLog.record({ from: 0, to: 99 }, { kind: "skipped" }, 1);
  `;
  const killed = spawnSync(process.execPath, ["--input-type=module", "-e", die, folder]);
  assert.equal(killed.signal, "SIGKILL", String(killed.stderr));
  assert.equal(readdirSync(folder).length, 2);
  const auditLog = await AuditLog.open(folder);
  assert.equal(auditLog.status.ranges, 1);
  await audit(auditLog, { from: 0, to: 999 }, 1);
  assert.deepEqual(readdirSync(folder), ["audit.json"]);
});

test("an audit far behind restarts at the newest range", async (t) => {
  const auditLog = await AuditLog.open(openFolder(t));
  await audit(auditLog, { from: 0, to: 999 }, 5);
  const newest = 1_000 + (auditLimits.rangesBehindMax + 1) * auditLimits.rangeBlocks;
  const next = await audit(auditLog, { from: 0, to: newest - 1 }, 2);
  assert.deepEqual(next, [newest - 100, newest - 200]);
  assert.equal(auditLog.status.rounds, 0);
});

test("the range of an unproven block is compared again once, and the round goes on as before", async (t) => {
  const auditLog = await AuditLog.open(openFolder(t));
  const covered = { from: 150, to: 1049 };
  await audit(auditLog, covered, 3);
  for (const block of [170, 450, 451]) await auditLog.queue(block, covered, 1);
  const ranges = [
    { from: 400, to: 499 },
    { from: 150, to: 199 },
  ];
  const unverified = auditLog.status.unverified.map(({ from, to }) => ({ from, to }));
  assert.deepEqual(unverified, ranges);
  for (const range of ranges) await auditLog.record(range, equal, 2);
  assert.deepEqual(auditLog.status.unverified, []);
  assert.deepEqual(await audit(auditLog, covered, 2), [600, 500]);
  assert.equal(auditLog.status.mismatches, 0);
});

test("at start, mismatches with an ordered repair are marked repaired", async (t) => {
  const folder = openFolder(t);
  const auditLog = await AuditLog.open(folder);
  const range = { from: 300, to: 399 };
  await auditLog.record(
    range,
    { kind: "differs", state: "ordered", detail: "a fill is missing" },
    1,
  );
  assert.equal(auditLog.status.wrong.length, 1);
  const again = await AuditLog.open(folder);
  await again.markOrderedRepaired(2);
  assert.deepEqual(
    again.findings.map(({ state, changedAtMs }) => [state, changedAtMs]),
    [["repaired", 2]],
  );
  assert.equal(again.status.repairs, 1);
});

test("imported blocks are audited from the newest on, every other one at random, until all are proven", async (t) => {
  const { rangeBlocks } = auditLimits;
  const log = await AuditLog.open(openFolder(t));
  const covered = { from: 0, to: 10 * rangeBlocks - 1 };
  await log.markImported(covered);
  assert.deepEqual(log.status.imported, { ...covered, share: 0 });
  const draws = [0, 0.9, 0.5, 0];
  const read = async () => {
    const range = log.next(covered, () => draws.shift() ?? 0);
    assert(range !== null);
    await log.record(range, { kind: "equal", isFalseAlarm: false }, 0);
    return range.from / rangeBlocks;
  };
  // The newest range, one at random, which does not count as progress, and the one below the newest.
  assert.deepEqual([await read(), await read(), await read()], [9, 4, 8]);
  assert.equal(log.status.imported?.share, 0.2);
  for (let more = 0; more < 8; more += 1) await read();
  assert.equal(log.status.imported, null);
});

test("the audit begins with imported blocks, however many newer ones there are", async (t) => {
  const { rangeBlocks, rangesBehindMax } = auditLimits;
  const log = await AuditLog.open(openFolder(t));
  await log.markImported({ from: 0, to: 4 * rangeBlocks - 1 });
  const covered = { from: 0, to: (10 + rangesBehindMax) * rangeBlocks - 1 };
  const read = async (draw: number) => {
    const range = log.next(covered, () => draw);
    assert(range !== null);
    await log.record(range, { kind: "equal", isFalseAlarm: false }, 0);
    return range.from / rangeBlocks;
  };
  // Newest imported ones, random ones, and every fourth a newer one.
  assert.deepEqual(
    [await read(0.3), await read(0.5), await read(0.3), await read(0)],
    [3, 1, 2, 4],
  );
  assert.equal(log.status.imported?.share, 0.5);
  await read(0.3);
  await read(0.3);
  assert.equal(log.status.imported, null);
  // They are proven: the next round begins with the newest blocks, as always.
  assert.equal(await read(0), 9 + rangesBehindMax);
});

test("imported blocks at the end, in a range that is not complete, are proven with the blocks that follow", async (t) => {
  const { rangeBlocks } = auditLimits;
  const log = await AuditLog.open(openFolder(t));
  const last = 2 * rangeBlocks + 28;
  await log.markImported({ from: 0, to: last });
  const read = async (to: number) => {
    const range = log.next({ from: 0, to }, () => 0);
    assert(range !== null);
    await log.record(range, { kind: "equal", isFalseAlarm: false }, 0);
  };
  await read(last);
  await read(last);
  assert.equal(log.status.imported?.share, (2 * rangeBlocks) / (last + 1));
  await read(3 * rangeBlocks - 1);
  assert.equal(log.status.imported, null);
});

test("imported blocks that no endpoint could return are not proven, and are read again", async (t) => {
  const { rangeBlocks } = auditLimits;
  const log = await AuditLog.open(openFolder(t));
  const covered = { from: 0, to: 4 * rangeBlocks - 1 };
  await log.markImported(covered);
  for (const kind of ["equal", "skipped", "equal", "equal"] as const) {
    const range = log.next(covered, () => 0);
    assert(range !== null);
    await log.record(range, kind === "equal" ? { kind, isFalseAlarm: false } : { kind }, 0);
  }
  assert.equal(log.status.imported?.share, 0.75);
  const [open] = log.status.unverified;
  assert(open !== undefined);
  await log.record(open, { kind: "skipped" }, 1);
  assert.equal(log.status.imported?.share, 0.75);
  await log.record(open, { kind: "equal", isFalseAlarm: false }, 2);
  assert.equal(log.status.imported, null);
});
