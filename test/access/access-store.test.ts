/** The contract of `AccessStore`, for one process and for a cluster: keys and IP blocks. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { AccessStore } from "../../src/access/access-store.ts";
import type { IpBlock } from "../../src/access/ip-blocks.ts";
import { IpGuard } from "../../src/access/ip-guard.ts";
import { generateKey } from "../../src/access/key-format.ts";
import { accessLimits } from "../../src/base/config/limits.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { waitFor } from "../support/wait-for.ts";
import { storePlaces } from "./open-stores.ts";

const bucket = "203.0.113.7";
const localhost = "127.0.0.1";
const newKey = { name: "one", scope: "read", expiresAtMs: null, allowedIps: [] } as const;
const firstPage = { limit: 100, after: null };

for (const [place, makePlace] of Object.entries(storePlaces)) {
  suite(`keys of ${place}`, { concurrency: true, timeout: 300_000 }, () => {
    test("a new key works immediately, also in a store that is already open", async (t) => {
      const open = await makePlace(t);
      const [first, second] = [await open(), await open()];
      const { value, key } = await first.keys.create(newKey);
      assert.equal(first.keys.verify(value, localhost)?.id, key.id);
      await waitUntilVerified(second, value);
      assert.equal(second.keys.verify(`${value}x`, localhost), null);
      assert.equal(second.keys.verify(undefined, localhost), null);
    });

    test("a revoked key never works again in any store, and listeners are called before the revocation returns", async (t) => {
      const open = await makePlace(t);
      const [first, second] = [await open(), await open()];
      const { value, key } = await first.keys.create(newKey);
      const verified = await waitUntilVerified(second, value);
      const observed: boolean[] = [];
      second.keys.onEnded(() => observed.push(second.keys.isLive(verified)));
      await first.keys.revoke(key.id);
      assert.equal(first.keys.verify(value, localhost), null);
      if (place === "cluster") {
        assert.equal(second.keys.verify(value, localhost), null);
        assert.equal(observed.at(-1), false);
      }
      await assert.rejects(first.keys.revoke(key.id), { code: "NOT_FOUND" });
      await assert.rejects(first.keys.rotate(key.id, 0), { code: "NOT_FOUND" });
      const third = await open();
      assert.equal(third.keys.verify(value, localhost), null);
      assert.notEqual((await third.keys.get(key.id))?.revokedAtMs, null);
    });

    test("the old value of a rotated key works for the grace period only", async (t) => {
      const clock = movedClock();
      const open = await makePlace(t);
      const store = await open({ clock });
      const { value, key } = await store.keys.create(newKey);
      const rotatedAtMs = clock.nowMs();
      const { value: next, key: rotated } = await store.keys.rotate(key.id, 10_000);
      assert.equal(rotated.id, key.id);
      const waitMs = place === "cluster" ? accessLimits.confirmWaitMs : 0;
      assert((rotated.previousUntilMs ?? 0) >= rotatedAtMs + waitMs + 10_000);
      const works = (one: string) => store.keys.verify(one, localhost) !== null;
      assert(works(value) && works(next));
      clock.aheadMs = 10_000;
      assert(!works(value) && works(next));
      const { value: last } = await store.keys.rotate(key.id, 0);
      assert(!works(next) && works(last));
    });

    test("an expired key does not work, and a key with allowed IPs works only from those", async (t) => {
      const clock = movedClock();
      const open = await makePlace(t);
      const store = await open({ clock });
      const allowedIps = ["10.0.0.0/8", "2001:db8::/32"];
      const expiresAtMs = clock.nowMs() + 60_000;
      const { value } = await store.keys.create({ ...newKey, expiresAtMs, allowedIps });
      assert.equal(store.keys.verify(value, localhost), null);
      for (const ip of ["10.1.2.3", "2001:db8::1"]) assert(store.keys.verify(value, ip));
      clock.aheadMs = 60_000;
      assert.equal(store.keys.verify(value, "10.1.2.3"), null);
    });

    test("names are unique among active keys", async (t) => {
      const open = await makePlace(t);
      const [store, other] = [await open(), await open()];
      const { key } = await store.keys.create(newKey);
      for (const one of [store, other])
        await assert.rejects(one.keys.create(newKey), { code: "CONFLICT" });
      await other.keys.revoke(key.id);
      await store.keys.create(newKey);
    });

    test("no simultaneous change is lost", async (t) => {
      const open = await makePlace(t);
      const stores = [await open(), await open(), await open()];
      const names = Array.from({ length: 12 }, (_, index) => `key ${index}`);
      const issued = await Promise.all(
        names.map((name, index) => at(stores, index).keys.create({ ...newKey, name })),
      );
      const same = await Promise.allSettled(
        stores.map((store) => store.keys.create({ ...newKey, name: "same" })),
      );
      assert.equal(same.filter(({ status }) => status === "fulfilled").length, 1);
      const listed = await at(stores, 1).keys.list(firstPage);
      assert.deepEqual(listed.map(({ name }) => name).toSorted(), [...names, "same"].toSorted());
      const revoked = issued.slice(0, 6).map(({ key }) => key.id);
      await Promise.all(revoked.map((id, index) => at(stores, index).keys.revoke(id)));
      const active = (await at(stores, 2).keys.list(firstPage)).filter(
        ({ revokedAtMs }) => revokedAtMs === null,
      );
      assert.equal(active.length, 7);
    });

    test("the list has pages, newest first", async (t) => {
      const clock = movedClock();
      const open = await makePlace(t);
      const store = await open({ clock });
      for (const name of ["a", "b", "c"]) {
        clock.aheadMs += 1000;
        await store.keys.create({ ...newKey, name });
      }
      const [first, second] = await store.keys.list({ limit: 2, after: null });
      assert(first !== undefined && second !== undefined);
      assert.deepEqual([first.name, second.name], ["c", "b"]);
      const rest = await store.keys.list({ limit: 2, after: second });
      assert.deepEqual(
        rest.map(({ name }) => name),
        ["a"],
      );
    });

    test("usage is counted over all stores, and survives their close", async (t) => {
      const open = await makePlace(t);
      const [first, second] = [await open(), await open()];
      const { value, key } = await first.keys.create(newKey);
      await waitUntilVerified(second, value);
      first.keys.verify(value, localhost);
      await first.close();
      await second.close();
      const used = await (await open()).keys.get(key.id);
      assert((used?.requestCount ?? 0) >= 2);
      assert(used?.lastUsedAtMs);
    });

    test("an admin key that was revoked or rotated is not imported again", async (t) => {
      for (const end of ["revoke", "rotate"] as const) {
        const open = await makePlace(t);
        const adminKey = generateKey("admin");
        const [first, second] = [await open(), await open()];
        await first.keys.ensureAdminKey(adminKey);
        const id = first.keys.verify(adminKey, localhost)?.id ?? "";
        assert.deepEqual(await second.keys.ensureAdminKey(adminKey), { kind: "known" });
        assert.equal(second.keys.verify(adminKey, localhost)?.id, id);
        if (end === "revoke") await first.keys.revoke(id);
        else await first.keys.rotate(id, 0);
        const warnings: string[] = [];
        const last = await open({ warnings });
        last.audit.recordImport(await last.keys.ensureAdminKey(adminKey));
        assert.equal(last.keys.verify(adminKey, localhost), null);
        assert.equal(warnings.filter((line) => line.includes("ODDWIRE_ADMIN_KEY")).length, 1);
      }
    });

    test("stores that import an admin key at the same time import it once", async (t) => {
      const open = await makePlace(t);
      const adminKey = generateKey("admin");
      const stores = await Promise.all([1, 2, 3].map(() => open()));
      await Promise.all(stores.map(({ keys }) => keys.ensureAdminKey(adminKey)));
      const ids = stores.map((store) => store.keys.verify(adminKey, localhost)?.id);
      assert(ids[0] !== undefined);
      assert.equal(new Set(ids).size, 1);
      assert.equal((await at(stores, 0).keys.list(firstPage)).length, 1);
    });

    test("a different pepper is refused", async (t) => {
      const open = await makePlace(t);
      await open();
      await assert.rejects(open({ pepper: "another".repeat(10) }), { name: "ConfigError" });
    });

    test("derived secrets are the same in every store", async (t) => {
      const open = await makePlace(t);
      const [first, second] = [await open(), await open()];
      assert.deepEqual(first.keys.deriveSecret("cursors"), second.keys.deriveSecret("cursors"));
      assert.notDeepEqual(first.keys.deriveSecret("cursors"), first.keys.deriveSecret("others"));
    });
  });

  suite(`IP blocks of ${place}`, { concurrency: true, timeout: 300_000 }, () => {
    test("a block survives a restart, and a removed block is removed in every store", async (t) => {
      const open = await makePlace(t);
      const first = await open();
      const block = blockFor(60_000);
      first.ipBlocks.put(block);
      assert.deepEqual(first.ipBlocks.get(bucket), block);
      await first.close();
      const [second, third] = [await open(), await open()];
      assert.deepEqual(second.ipBlocks.get(bucket), block);
      assert.equal(await third.ipBlocks.remove(bucket), true);
      assert.equal(await third.ipBlocks.remove(bucket), false);
      await waitForBlock(second, false);
      await waitFor("the end", async () => (second.ipBlocks.get(bucket) === null ? true : null));
    });

    test("the list has the active blocks, newest first, in pages", async (t) => {
      const { ipBlocks } = await (await makePlace(t))();
      for (const [index, ip] of ["192.0.2.1", "192.0.2.2", "192.0.2.3"].entries())
        ipBlocks.put({ ...blockFor(60_000, ip), blockedAtMs: index });
      // The clock of a cluster may be some milliseconds off on a busy machine.
      ipBlocks.put(blockFor(-60_000));
      const page = await ipBlocks.list({ limit: 2, after: null });
      assert.deepEqual(
        page.map(({ bucket: ip }) => ip),
        ["192.0.2.3", "192.0.2.2"],
      );
      const rest = await ipBlocks.list({ limit: 2, after: page[1] ?? null });
      assert.deepEqual(
        rest.map(({ bucket: ip }) => ip),
        ["192.0.2.1"],
      );
    });
  });
}

test("offenses at different nodes of a cluster count together and block the IP at all nodes", async (t) => {
  const open = await storePlaces["cluster"]?.(t);
  assert(open !== undefined);
  const nodes = [await open(), await open()];
  const guards = nodes.map(
    (access) => new IpGuard({ access, clock: systemClock, failuresMax: 20 }),
  );
  for (let failures = 0; failures < 20; failures += 1)
    guards[failures % 2]?.record(bucket, "failed_authentication");
  for (const node of nodes) await waitForBlock(node, true);
  for (const guard of guards) assert(guard.blockedForMs(bucket) > 0);
});

function blockFor(ms: number, ip = bucket): IpBlock {
  const blockedAtMs = Date.now();
  const blockedUntilMs = blockedAtMs + ms;
  return { bucket: ip, reason: "abuse", offenses: 2, blockedAtMs, blockedUntilMs };
}

async function waitForBlock({ ipBlocks }: AccessStore, isBlocked: boolean): Promise<void> {
  await waitFor(`a block: ${isBlocked}`, async () =>
    (await ipBlocks.list(firstPage)).some((block) => block.bucket === bucket) === isBlocked
      ? true
      : null,
  );
}

/** Verifies a key once the store knows it: another process sees a new key after `accessRecheckMs`. */
async function waitUntilVerified({ keys }: AccessStore, value: string) {
  return waitFor("the key to be known", async () => keys.verify(value, localhost));
}

function movedClock() {
  const clock = {
    ...systemClock,
    aheadMs: 0,
    nowMs: () => systemClock.nowMs() + clock.aheadMs,
  };
  return clock;
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  assert(item !== undefined);
  return item;
}
