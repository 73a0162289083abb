/** Anyone can prepare conditions about a question of others. These conditions are not its market. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { BlockWriter } from "../../../test/support/generate-matches.ts";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import { searchNow } from "../../../test/support/search-now.ts";
import {
  encodeLog,
  knownCreator,
  type LogContent,
  marketLogs,
  testMarkets,
  umaText,
} from "../../../test/support/test-markets.ts";
import type { Address, ConditionId, Hash } from "../../base/ids.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { deriveBlockFacts } from "../../market/block-facts.ts";
import { deriveConditionId } from "../../market/ids/condition-ids.ts";
import { toKeccak } from "../../market/ids/keccak.ts";
import { MarketDirectory } from "./market-directory.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const tokens = getContract("conditional_tokens");
const { oracle, questionId } = testMarkets.standard;
const request = umaText({ title: "Will one of three win?", creator: knownCreator });
const requestId = toKeccak(Buffer.from(request));

function getContract(kind: string) {
  const found = [...contracts.byAddress.values()].find((contract) => contract.kind === kind);
  assert(found !== undefined);
  return found;
}

function getDirectory(logs: readonly LogContent[]): MarketDirectory {
  const directory = new MarketDirectory(contracts, new MemoryStateStore(), () => {});
  const hash = `0x${"b".repeat(64)}` as Hash;
  for (const [number, log] of logs.entries()) {
    const writer = new BlockWriter({ number, hash, parentHash: null, timestamp: 1_700_000_000 });
    writer.addLog(log);
    for (const event of deriveBlockFacts(writer.block, decoder).events) directory.applyEvent(event);
  }
  return directory;
}

type Prepared = { readonly conditionId: ConditionId; readonly log: LogContent };

function prepare(by: Address, question: Hash, outcomeSlotCount: number): Prepared {
  const requested = { oracle: by, questionId: question };
  const conditionId = deriveConditionId({ ...requested, outcomeSlotCount });
  const args = { ...requested, conditionId, outcomeSlotCount: BigInt(outcomeSlotCount) };
  return { conditionId, log: encodeLog(tokens, "ConditionPreparation", args) };
}

function assertUntitled(directory: MarketDirectory, { conditionId }: Prepared): void {
  const market = directory.market(conditionId);
  assert.equal(market?.question, null);
  assert.equal(market.description, null);
  assert.equal(market.metadataSource, "none");
}

suite("a condition about the question of another market has no title when", () => {
  test("it has more than two outcomes", () => {
    const more = prepare(oracle, questionId, 3);
    for (const logs of [
      [more.log, ...marketLogs],
      [...marketLogs, more.log],
    ]) {
      const directory = getDirectory(logs);
      assertUntitled(directory, more);
      const own = directory.market(testMarkets.standard.conditionId);
      assert.equal(own?.question, "Standard, isn't it?");
    }
  });

  test("its question is the UMA request behind a neg-risk question", () => {
    const adapters = [...contracts.byAddress.values()].filter(({ kind }) => kind === "uma_adapter");
    const ones = adapters.map(({ address }) => prepare(address, requestId, 2));
    const logs = ones.map(({ log }) => log);
    for (const all of [
      [...logs, ...marketLogs],
      [...marketLogs, ...logs],
    ]) {
      const directory = getDirectory(all);
      for (const one of ones) {
        assertUntitled(directory, one);
        const { search, count } = directory.columns;
        const found = searchNow(search, ["three", "win"], count);
        const place = directory.getOrdinal(one.conditionId);
        assert(place === null || found.ranks[place] === 0);
      }
      const own = directory.market(testMarkets.negRisk.conditionId);
      assert.equal(own?.question, "Will one of three win?");
    }
  });
});
