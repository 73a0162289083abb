/** Requests that reach before the first indexed block of a service that did not start at the first of the contracts. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { deriveBlockFacts } from "../../src/market/block-facts.ts";
import { DataServer } from "../support/open-data-server.ts";
import { knownContracts, readRecordedBlocks } from "../support/recorded-chain.ts";
import { StreamClient } from "../support/stream-client.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const facts = readRecordedBlocks("contracts-gen2").map((block) => deriveBlockFacts(block, decoder));
const skipped = 400;

suite("a service that starts later than the contracts", async () => {
  const server = await DataServer.open({ facts: facts.slice(skipped), finalBlocks: 300 });
  after(() => server.close());
  const first = facts[skipped] ?? assert.fail();
  const earliest = first.number * 1_000_000 - 1;
  const token = String((await server.getPage("/v1/trades?limit=1")).data[0]?.["token_id"]);

  const before = [
    `/v1/trades?from_block=${first.number - 1}`,
    `/v1/trades?from_block=${first.number - 9}&to_block=${first.number - 1}`,
    `/v1/trades?order=asc&after_seq=${earliest - 1}`,
    "/v1/trades?start=2020-01-01",
    "/v1/matches?start=0",
    "/v1/fills?start=0",
    "/v1/cancellations?start=0",
    "/v1/exchange-events?start=0",
    "/v1/resolutions?from_block=1",
    `/v1/trades/market/${token}?start=0`,
    `/v1/candles/${token}?start=0`,
  ];
  for (const path of before)
    test(`200: ${path.replace(token, "{token_id}")} says that older rows are missing`, async () => {
      const { meta } = await server.getPage(path);
      assert.equal(meta["truncated_at_start"], true);
      assert.equal(meta["first_block"], first.number);
      const { headers } = await server.get(`${path}&format=csv`);
      assert.equal(headers.get("x-truncated-at-start"), "true");
    });

  const within = [
    "/v1/trades",
    "/v1/trades?order=asc",
    `/v1/trades?from_block=${first.number}`,
    `/v1/trades?from_block=${first.number}&start=0`,
    `/v1/trades?after_seq=${earliest}`,
    `/v1/candles/${token}`,
  ];
  for (const path of within)
    test(`200: ${path.replace(token, "{token_id}")} has no note of missing rows`, async () => {
      const { meta } = await server.getPage(path);
      assert.equal("truncated_at_start" in meta, false);
    });

  test("the time of the first block is not after that of its first row", async () => {
    const { data, meta } = await server.getPage("/v1/fills?order=asc&limit=1");
    assert(Number(meta["first_timestamp_ms"]) <= Number(data[0]?.["timestamp_ms"]));
    assert(Number(meta["first_timestamp_ms"]) >= first.timestamp * 1000);
  });

  test("resume_from before the first block is an error that names the first position, unless a gap is allowed", async () => {
    const client = await StreamClient.open(server.edge.url, { key: server.edge.keys.read });
    const channel = { type: "trades" };
    client.send({ action: "subscribe", channel, resume_from: earliest - 1 });
    const { error } = await client.next("error");
    assert.match(
      JSON.stringify(error),
      new RegExp(`resume_from.*Resume from ${earliest} or later`),
    );
    client.send({
      action: "subscribe",
      channel: { ...channel, resume_from: earliest - 1, allow_gap: true },
    });
    await client.next("subscribed");
    await client.next("replay_complete");
    client.socket.close();
  });

  for (const position of [0, earliest])
    test(`resume_from ${position === 0 ? 0 : "the first position"} replays everything indexed`, async () => {
      const client = await StreamClient.open(server.edge.url, { key: server.edge.keys.read });
      client.send({ action: "subscribe", channel: { type: "trades" }, resume_from: position });
      await client.next("subscribed");
      await client.next("replay_complete");
      client.socket.close();
    });
});
