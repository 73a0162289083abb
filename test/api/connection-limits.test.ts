/** The limits of connections and preflights per IP address. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { webLimits } from "../../src/base/config/limits.ts";
import { cleanUp } from "../support/clean-up.ts";
import { openTestServer } from "../support/open-test-server.ts";
import { RawConnection } from "../support/raw-connection.ts";
import { waitFor } from "../support/wait-for.ts";

async function openServer(t: TestContext, trustedProxies: readonly string[]) {
  const server = await openTestServer({ connectionsPerIp: 3, trustedProxies });
  cleanUp(t, () => server.close());
  const port = Number(new URL(server.url).port);
  const ask = async (connection: RawConnection) =>
    connection.send("GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n", null, false);
  const open = async () => {
    const connection = new RawConnection(port);
    const { status } = await ask(connection);
    assert.equal(status, 200);
    return connection;
  };
  return { port, open };
}

test("a connection above the limit is closed; a connection that ends frees its slot", async (t) => {
  const { port, open } = await openServer(t, []);
  const [first] = [await open(), await open(), await open()];
  const refused = connect({ host: "127.0.0.1", port });
  refused.on("error", () => {});
  await once(refused, "close");
  assert.equal(refused.bytesRead, 0);
  first.close();
  await waitFor("room for another connection", async () => open().catch(() => null));
});

test("connections of trusted proxies are not counted", async (t) => {
  const { open } = await openServer(t, ["127.0.0.1"]);
  for (let count = 0; count < 5; count += 1) await open();
});

test("429: preflights above their own limit, which do not use up the limit of the IP", async (t) => {
  const origin = "https://app.example.com";
  const server = await openTestServer({ corsOrigins: [origin] });
  cleanUp(t, () => server.close());
  const connection = new RawConnection(Number(new URL(server.url).port));
  const head = `OPTIONS /v1/keys HTTP/1.1\r\nhost: x\r\norigin: ${origin}\r\naccess-control-request-method: GET\r\n\r\n`;
  const batch = 500;
  for (let sent = 0; sent < webLimits.preflightsPerMinute; sent += batch) {
    const answers = Array.from({ length: batch }, () => connection.send(head, null, true));
    for (const { status } of await Promise.all(answers)) assert.equal(status, 204);
  }
  const { status, headers } = await connection.send(head, null, false);
  assert.equal(status, 429);
  assert.ok(Number(headers.get("retry-after")) > 0);
  assert.equal(headers.get("x-ratelimit-remaining"), "100");
  const { status: other } = await server.request("GET", "/v1/health");
  assert.equal(other, 200);
});
