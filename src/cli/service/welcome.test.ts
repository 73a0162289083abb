import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../../base/config/config.ts";
import { formatWelcome } from "./welcome.ts";

function factsOf(
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
  const indexingOf = (...parts: Parameters<typeof factsOf>) => factsOf(...parts)["indexing"];
  const named = "Polymarket on Polygon";
  assert.equal(
    indexingOf({}, { storedThrough: null, head: 900 }),
    `${named} from the latest block, through node.example`,
  );
  assert.equal(
    indexingOf({ ODDWIRE_START_BLOCK: "700" }, { storedThrough: null, head: 900 }),
    `${named} from block 700, 200 blocks behind the head, through node.example`,
  );
  assert.equal(
    indexingOf({}, { storedThrough: 849, head: 900 }),
    `${named} resuming at block 850, 51 blocks behind the head, through node.example`,
  );
  assert.equal(
    indexingOf({}, { storedThrough: 849, head: null }),
    `${named} resuming at block 850, through node.example`,
  );
});

test("the welcome says which markets there will be, and how to get older ones", () => {
  const marketsOf = (settings: Readonly<Record<string, string>>) =>
    factsOf(settings, { storedThrough: null, head: null })["markets"] ?? "";
  assert.match(marketsOf({}), /--venue polymarket.*--start-block/);
  assert.match(marketsOf({ ODDWIRE_VENUE: "polymarket" }), /older ones that are traded/);
  assert.equal(marketsOf({ ODDWIRE_START_BLOCK: "genesis" }), "all");
});
