/** Every change of keys and IP blocks writes one log line, with the acting key and without a key value. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { generateKey } from "../../src/access/key-format.ts";
import { openAccess } from "../../src/access/open-access.ts";
import { readConfig } from "../../src/base/config/config.ts";
import { openLog } from "../../src/base/log.ts";
import { openTestServer } from "../support/open-test-server.ts";

const server = await openTestServer({ trustedProxies: ["127.0.0.1"] });
const { admin } = server.keys;
after(() => server.close());

type Line = Readonly<Record<string, unknown>>;

function auditLines(): Line[] {
  return server.logged
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => "audit" in line)
    .map(({ audit, by_key_id, key_id, ip }) => ({ audit, by_key_id, key_id, ip }));
}

test("logs the creation, rotation and revocation of a key, with the acting key", async () => {
  const by_key_id = server.access.keys.verify(admin, "127.0.0.1")?.id;
  const created = await server.request("POST", "/v1/keys", { key: admin, json: { name: "mine" } });
  const { id, key: value } = created.body["data"] as { id: string; key: string };
  const path = `/v1/keys/${id}`;
  const rotated = await server.request("POST", `${path}/rotate`, { key: admin, json: {} });
  const { key: second } = rotated.body["data"] as { key: string };
  assert.equal((await server.request("DELETE", path, { key: admin })).status, 200);
  assert.equal((await server.request("DELETE", path, { key: admin })).status, 404);
  const common = { by_key_id, key_id: id, ip: undefined };
  assert.deepEqual(
    auditLines(),
    ["key_created", "key_rotated", "key_revoked"].map((audit) => ({ audit, ...common })),
  );
  for (const secret of [value, second, admin])
    assert(!server.logged.some((line) => line.includes(secret.slice(13))));
});

test("logs an IP block by the service, and its unblocking by a key", async () => {
  const before = auditLines().length;
  const headers = { "x-forwarded-for": "203.0.113.1" };
  for (let failure = 0; failure < 20; failure += 1)
    await server.request("GET", "/v1/keys", { headers, key: "ow_read_x" });
  await server.request("DELETE", "/v1/ip-blocks/203.0.113.1", { key: admin });
  const by_key_id = server.access.keys.verify(admin, "127.0.0.1")?.id;
  const common = { key_id: undefined, ip: "203.0.113.1" };
  assert.deepEqual(auditLines().slice(before), [
    { audit: "ip_blocked", by_key_id: null, ...common },
    { audit: "ip_unblocked", by_key_id, ...common },
  ]);
  assert.deepEqual(server.access.audit.counts.toRecord(), {
    key_created: 1,
    key_rotated: 1,
    key_revoked: 1,
    ip_blocked: 1,
    ip_unblocked: 1,
  });
});

test("logs the import of the configured admin key only once", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "oddwire-test-"));
  const [adminKey, log] = [generateKey("admin"), openLog({ level: "silent" })];
  const config = { ...readConfig("administer", {}), dataDir, adminKey };
  const imports = [];
  for (const _start of [1, 2]) {
    const access = await openAccess(config, { use: "change", log });
    await access.close();
    imports.push(access.audit.counts.toRecord());
  }
  rmSync(dataDir, { recursive: true });
  assert.deepEqual(imports, [{ key_imported: 1 }, {}]);
});
