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
  const getIndexing = (...parts: Parameters<typeof getFacts>) => getFacts(...parts)["indexing"];
  const named = "Polymarket on Polygon";
  assert.equal(
    getIndexing({}, { storedThrough: null, head: 900 }),
    `${named} from the latest block, through node.example`,
  );
  assert.equal(
    getIndexing({ ODDWIRE_START_BLOCK: "700" }, { storedThrough: null, head: 900 }),
    `${named} from block 700, 200 blocks behind the head, through node.example`,
  );
  assert.equal(
    getIndexing({}, { storedThrough: 849, head: 900 }),
    `${named} resuming at block 850, 51 blocks behind the head, through node.example`,
  );
  assert.equal(
    getIndexing({}, { storedThrough: 849, head: null }),
    `${named} resuming at block 850, through node.example`,
  );
});

test("the welcome says which markets there will be, and how to get older ones", () => {
  const getMarkets = (settings: Readonly<Record<string, string>>) =>
    getFacts(settings, { storedThrough: null, head: null })["markets"] ?? "";
  assert.match(getMarkets({}), /--venue polymarket.*--start-block/);
  assert.match(getMarkets({ ODDWIRE_VENUE: "polymarket" }), /older ones that are traded/);
  assert.equal(getMarkets({ ODDWIRE_START_BLOCK: "genesis" }), "all");
});
