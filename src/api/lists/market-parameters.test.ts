import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import { MarketState } from "../../views/markets/market-state.ts";
import { toSelection } from "./market-parameters.ts";

test("open interest orders markets only where wallets are indexed", () => {
  const query = { sort: "open_interest", order: "desc", status: "open", format: "json" } as const;
  const open = (wallets: boolean) =>
    new MarketState({ ...knownContracts(), wallets }, new MemoryStateStore());
  assert.equal(toSelection(open(true), query).sort, "open_interest");
  assert.throws(() => toSelection(open(false), query), /ODDWIRE_WALLETS is off/);
});
