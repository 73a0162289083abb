import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { pino } from "pino";
import { ConfigError } from "../../base/config/config.ts";
import { webLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { type Clock, systemClock } from "../../base/time/clock.ts";
import { generateKey } from "../key-format.ts";
import { type AccessUse, LocalAccess } from "./local-access.ts";

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "oddwire-access-"));
  folders.push(folder);
  return folder;
}

function open(
  dataDir: string,
  options: { pepper?: string; clock?: Clock; warnings?: string[]; use?: AccessUse } = {},
): LocalAccess {
  const { pepper = null, clock = systemClock, warnings = [], use = "serve" } = options;
  const own = pino({ level: "warn" }, { write: (line) => warnings.push(line) });
  return LocalAccess.open({ dataDir, pepper, clock, log: own, use });
}

/** The files of a folder by name. */
function readFolder(folder: string): Readonly<Record<string, Buffer>> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]),
  );
}

type MovableClock = Clock & { aheadMs: number };

function movableClock(): MovableClock {
  const clock = {
    ...systemClock,
    aheadMs: 0,
    nowMs: () => systemClock.nowMs() + clock.aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + clock.aheadMs,
  };
  return clock;
}

const readKey = { name: "one", scope: "read", expiresAtMs: null, allowedIps: [] } as const;
const localhost = "127.0.0.1";

test("keys and their request counts survive a restart", async () => {
  const folder = newFolder();
  const first = open(folder);
  const { value, key } = await first.keys.create(readKey);
  first.keys.verify(value, localhost);
  first.keys.verify(value, localhost);
  first.close();
  const second = open(folder);
  assert.equal(second.keys.verify(value, localhost)?.id, key.id);
  assert.equal((await second.keys.get(key.id))?.requestCount, 3);
  second.close();
});

test("the database contains neither key values nor the pepper", async () => {
  const folder = newFolder();
  const store = open(folder);
  const { value } = await store.keys.create(readKey);
  store.close();
  const pepper = readFileSync(join(folder, "pepper"), "latin1");
  const database = readFileSync(join(folder, "access.sqlite"), "latin1");
  assert.ok(database.includes("ow_read_"));
  assert.ok(!database.includes(value.slice(13)) && !database.includes(pepper));
  for (const name of ["pepper", "access.sqlite"])
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
});

test("changes by another process take effect within the recheck interval", async () => {
  const folder = newFolder();
  const running = open(folder);
  const create = `
    const { LocalAccess } = await import(${JSON.stringify(new URL("local-access.ts", import.meta.url).href)});
    const { systemClock } = await import(${JSON.stringify(new URL("../../base/time/clock.ts", import.meta.url).href)});
    const options = { dataDir: process.argv[1], pepper: null, clock: systemClock };
    const store = LocalAccess.open(options);
    const input = { name: "cli", scope: "admin", expiresAtMs: null, allowedIps: [] };
    process.stdout.write((await store.keys.create(input)).value);
    store.close();`;
  const value = execFileSync(process.execPath, ["--input-type=module", "-e", create, folder], {
    encoding: "utf8",
  });
  const verified = running.keys.verify(value, localhost);
  assert.equal(verified?.scope, "admin");
  const other = open(folder);
  await other.keys.revoke(verified.id);
  await systemClock.sleep(webLimits.accessRecheckMs + 1, new AbortController().signal);
  assert.equal(running.keys.verify(value, localhost), null);
  other.close();
  running.close();
});

test("the request counts of two processes add up", async () => {
  const folder = newFolder();
  const [one, other] = [open(folder), open(folder)];
  const { value, key } = await one.keys.create(readKey);
  await systemClock.sleep(webLimits.accessRecheckMs + 1, new AbortController().signal);
  one.keys.verify(value, localhost);
  other.keys.verify(value, localhost);
  other.close();
  one.keys.flush();
  assert.equal((await one.keys.get(key.id))?.requestCount, 2);
  one.close();
});

test("a key with allowed IPs works only from those", async () => {
  const store = open(newFolder());
  const allowedIps = ["10.0.0.0/8", "2001:db8::/32"];
  const { value } = await store.keys.create({ ...readKey, allowedIps });
  assert.ok(store.keys.verify(value, "10.1.2.3"));
  assert.ok(store.keys.verify(value, "2001:db8::1"));
  assert.equal(store.keys.verify(value, localhost), null);
  store.close();
});

test("every use of a value checks its IP, expiry, rotation and revocation again", async () => {
  const clock = { ...systemClock, nowMs: () => nowMs };
  let nowMs = 1_000_000;
  const store = open(newFolder(), { clock });
  const allowedIps = ["10.0.0.0/8"];
  const input = { ...readKey, allowedIps, expiresAtMs: nowMs + 60_000 };
  const { value, key } = await store.keys.create(input);
  const works = (text: string) => store.keys.verify(text, "10.1.2.3") !== null;
  for (let requested = 0; requested < 3; requested += 1) {
    assert.ok(works(value));
    assert.equal(store.keys.verify(value, localhost), null);
    assert.ok(!works(`${value}x`));
  }
  const { value: next } = await store.keys.rotate(key.id, 10_000);
  assert.ok(works(value) && works(next) && works(value) && works(next));
  nowMs += 10_000;
  assert.ok(!works(value) && works(next));
  nowMs += 50_000;
  assert.ok(!works(next));
  nowMs -= 50_000;
  assert.ok(works(next));
  await store.keys.revoke(key.id);
  assert.ok(!works(next));
  store.close();
});

test("a listener is called whenever a value is rotated or revoked", async () => {
  const store = open(newFolder());
  const { value, key } = await store.keys.create(readKey);
  const verified = store.keys.verify(value, localhost);
  assert.ok(verified);
  const observed: boolean[] = [];
  store.keys.onEnded(() => observed.push(store.keys.isLive(verified)));
  await store.keys.rotate(key.id, 60_000);
  await store.keys.rotate(key.id, 0);
  await store.keys.revoke(key.id);
  assert.deepEqual(observed, [true, false, false]);
  store.close();
});

test("the admin key of the environment works until it is revoked or rotated, and never again", async () => {
  for (const end of ["revoke", "rotate"] as const) {
    const folder = newFolder();
    const adminKey = generateKey("admin");
    const first = open(folder);
    await first.keys.ensureAdminKey(adminKey);
    const id = first.keys.verify(adminKey, localhost)?.id ?? "";
    first.close();
    const second = open(folder);
    await second.keys.ensureAdminKey(adminKey);
    assert.equal(second.keys.verify(adminKey, localhost)?.id, id);
    if (end === "revoke") await second.keys.revoke(id);
    else await second.keys.rotate(id, 0);
    second.close();
    const third = open(folder);
    await third.keys.ensureAdminKey(adminKey);
    assert.equal(third.keys.verify(adminKey, localhost), null);
    third.close();
  }
});

test("a key value that this store once issued is not imported as the admin key", async () => {
  const ends: Record<string, (store: LocalAccess, id: string, clock: MovableClock) => unknown> = {
    revoked: ({ keys }, id) => keys.revoke(id),
    rotated: ({ keys }, id) => keys.rotate(id, 0),
    "rotated twice and revoked": async ({ keys }, id) => {
      await keys.rotate(id, 60_000);
      await keys.rotate(id, 0);
      await keys.revoke(id);
    },
    expired: (_store, _id, clock) => {
      clock.aheadMs = 120_000;
    },
  };
  for (const [name, end] of Object.entries(ends)) {
    const [folder, clock] = [newFolder(), movableClock()];
    const first = open(folder, { clock });
    const expiresAtMs = clock.nowMs() + 60_000;
    const input = { name: "one", scope: "admin", expiresAtMs, allowedIps: ["192.0.2.1"] } as const;
    const { key, value } = await first.keys.create(input);
    await end(first, key.id, clock);
    first.close();
    const warnings: string[] = [];
    const second = open(folder, { clock, warnings });
    second.audit.recordImport(await second.keys.ensureAdminKey(value));
    for (const ip of [localhost, "192.0.2.1"])
      assert.equal(second.keys.verify(value, ip), null, name);
    assert.equal((await second.keys.list({ limit: 10, after: null })).length, 1, name);
    assert.equal(warnings.filter((line) => line.includes("ODDWIRE_ADMIN_KEY")).length, 1, name);
    second.close();
  }
});

test("reading a directory changes no byte: next to a service, after a kill, alone", async () => {
  const folder = newFolder();
  const list = async (path = folder) => {
    const store = open(path, { use: "read" });
    const rows = await store.keys.list({ limit: 10, after: null });
    assert.deepEqual(await store.ipBlocks.list({ limit: 10, after: null }), []);
    await store.close();
    return rows.length;
  };
  assert.equal(await list(), 0);
  assert.deepEqual(readFolder(folder), {}, "no file is made");
  const service = open(folder);
  await service.keys.create(readKey);
  assert.equal(await list(), 1);
  const killed = join(newFolder(), "killed");
  cpSync(folder, killed, { recursive: true });
  service.close();
  const stopped = readFolder(folder);
  assert.equal(await list(), 1);
  assert.deepEqual(readFolder(folder), stopped);
  const left = Object.keys(readFolder(killed));
  assert.equal(await list(killed), 1, "what is only in the log of the database counts");
  assert.deepEqual(Object.keys(readFolder(killed)), left);
  const store = open(folder, { use: "read" });
  await assert.rejects(store.keys.create(readKey), AppError);
  await store.close();
});

test("two processes that start at the same time import the admin key once", async () => {
  const folder = newFolder();
  const [first, second] = [open(folder), open(folder)];
  const adminKey = generateKey("admin");
  assert.equal((await first.keys.ensureAdminKey(adminKey)).kind, "imported");
  assert.deepEqual(await second.keys.ensureAdminKey(adminKey), { kind: "known" });
  first.close();
  second.close();
});

test("a malformed admin key, or one of a lower scope, is a configuration error", async () => {
  const store = open(newFolder());
  for (const adminKey of ["secret", generateKey("read"), `${generateKey("admin").slice(0, -1)}!`])
    await assert.rejects(store.keys.ensureAdminKey(adminKey), ConfigError);
  store.close();
});

test("a pepper other than the one the keys were hashed with is a configuration error", () => {
  const folder = newFolder();
  open(folder, { pepper: "p".repeat(32) }).close();
  assert.throws(() => open(folder, { pepper: "q".repeat(32) }), ConfigError);
  assert.ok(!existsSync(join(folder, "pepper")));
  writeFileSync(join(folder, "pepper"), "short");
  assert.throws(() => open(folder), ConfigError);
});

test("a database of another version is a configuration error", () => {
  const folder = newFolder();
  open(folder).close();
  for (const version of [2, 99]) {
    const database = new DatabaseSync(join(folder, "access.sqlite"));
    database.exec(`PRAGMA user_version = ${version}`);
    database.close();
    assert.throws(() => open(folder), ConfigError);
  }
});

test("a change that cannot be written throws SERVICE_UNAVAILABLE and has no effect", async () => {
  const folder = newFolder();
  const store = open(folder);
  const { value, key } = await store.keys.create(readKey);
  const other = new DatabaseSync(join(folder, "access.sqlite"));
  other.exec("BEGIN IMMEDIATE");
  await assert.rejects(
    store.keys.revoke(key.id),
    (error) => error instanceof AppError && error.code === "SERVICE_UNAVAILABLE",
  );
  assert.ok(store.keys.verify(value, localhost));
  other.exec("ROLLBACK");
  other.close();
  await store.keys.revoke(key.id);
  assert.equal(store.keys.verify(value, localhost), null);
  store.close();
});

test("derived secrets differ by purpose and survive a restart", () => {
  const folder = newFolder();
  const first = open(folder);
  const [cursors, others] = [first.keys.deriveSecret("cursors"), first.keys.deriveSecret("others")];
  first.close();
  const second = open(folder);
  assert.deepEqual(second.keys.deriveSecret("cursors"), cursors);
  assert.notDeepEqual(cursors, others);
  second.close();
});

test("IP blocks survive a restart, and an IP unblocked by another process is unblocked here", async () => {
  const folder = newFolder();
  const block = {
    bucket: "203.0.113.7",
    reason: "abuse",
    offenses: 2,
    blockedAtMs: Date.now(),
    blockedUntilMs: Date.now() + 60_000,
  } as const;
  const first = open(folder);
  first.ipBlocks.put(block);
  first.close();
  const second = open(folder);
  assert.deepEqual(second.ipBlocks.get(block.bucket), block);
  const other = open(folder);
  assert.equal(await other.ipBlocks.remove(block.bucket), true);
  assert.equal(await other.ipBlocks.remove(block.bucket), false);
  other.close();
  second.ipBlocks.refresh();
  assert.equal(second.ipBlocks.get(block.bucket), null);
  second.close();
});

test("an IP block that ended more than a day ago is deleted", () => {
  const store = open(newFolder());
  const long = Date.now() - 86_400_000;
  const common = { reason: "abuse", offenses: 1, blockedAtMs: long - 60_000 } as const;
  store.ipBlocks.put({ ...common, bucket: "203.0.113.1", blockedUntilMs: long - 1 });
  store.ipBlocks.put({ ...common, bucket: "203.0.113.2", blockedUntilMs: long + 60_000 });
  store.ipBlocks.flush();
  assert.equal(store.ipBlocks.get("203.0.113.1"), null);
  assert.notEqual(store.ipBlocks.get("203.0.113.2"), null);
  store.close();
});
