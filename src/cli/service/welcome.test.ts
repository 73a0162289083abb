import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../../base/config/config.ts";
import { formatWelcome } from "./welcome.ts";

function getFacts(
  settings: Readonly<Record<string, string>>,
  indexing: Parameters<typeof formatWelcome>[0]["indexing"],
): Record<string, string> {
  const environment = { ODDWIRE_RPC_URLS: "https://node.example/key", ...settings };
  const config = readConfig("serve", environment);
  const url = "http://127.0.0.1:8080";
  const text = formatWelcome({ config, url, indexing, adminKey: null, isTerminal: false });
  return JSON.parse(text) as Record<string, string>;
}

test("the welcome says where indexing starts or resumes, and how far behind that is", () => {
  const getIndexing = (indexing: Parameters<typeof getFacts>[1]) =>
    getFacts({}, indexing)["indexing"];
  const start = { firstBlock: "latest", isWhole: false, storedThrough: null, head: 900 } as const;
  const expected = [
    [start, "from block 900, the latest"],
    [{ ...start, head: null }, "from the latest block"],
    [{ ...start, firstBlock: 700 }, "from block 700, 200 blocks behind the head"],
    [{ ...start, storedThrough: 849 }, "resuming at block 850, 51 blocks behind the head"],
    [{ ...start, storedThrough: 849, head: null }, "resuming at block 850"],
  ] as const;
  for (const [indexing, words] of expected)
    assert.equal(getIndexing(indexing), `Polymarket on Polygon ${words}, through node.example`);
});

test("the welcome says which markets there will be, and how to get older ones", () => {
  const getMarkets = (settings: Readonly<Record<string, string>>, isWhole = false) =>
    getFacts(settings, { firstBlock: 5, isWhole, storedThrough: null, head: null })["markets"] ??
    "";
  assert.match(getMarkets({}), /--venue polymarket.*--start-block/);
  assert.match(getMarkets({ ODDWIRE_VENUE: "polymarket" }), /older ones that are traded/);
  assert.equal(getMarkets({}, true), "all");
});
