/** The older recordings: balances read from contract state, and every operation that their scripts did. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFixture } from "../../../test/support/read-fixture.ts";
import {
  knownContracts,
  readRecordedBlocks,
  recordingNames,
} from "../../../test/support/recorded-chain.ts";
import { formatTokenId } from "../../base/ids.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { deriveBlockFacts } from "../block-facts.ts";
import { groupActivity } from "./activity.ts";
import { getCollateralId } from "./collateral.ts";
import { zeroAddress } from "./ledger-row.ts";

type Balance = {
  readonly address?: string;
  readonly holder?: string;
  readonly asset: string;
  readonly amount?: string;
  readonly balance?: string;
};

type Operation = {
  readonly kind: string;
  readonly tx_hash: string;
  readonly user?: string;
  readonly amount?: string;
  readonly payout?: string;
};

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);

/** By the kind of an operation, that of its row. Other kinds are transfers of collateral, or of tokens. */
const kinds: Readonly<Record<string, string>> = {
  split: "split",
  split_raw: "split",
  merge: "merge",
  merge_raw: "merge",
  convert: "convert",
  redeem: "redeem",
  horizontalSplit: "hsplit",
};

/** Exchanges that are not the venue's. They split and merge like any other account. */
const decoys: ReadonlySet<string> = new Set([
  "0x09635f643e140090a9a8dcd712ed6285858cebef",
  "0x1fa02b2d6a771842690194cf62d91bdd92bfe28d",
  "0xdc64a140aa3e981100a9beca4e685f962f0cf6c9",
]);

/** A conversion of tokens that came to the module in an earlier transaction: no log of its own names their owner. */
const ownerless = "0x6a18b717ec44165c5cc43d24b7896075a5e38f0878c644794e5d1d0e8fa1d8c6";

for (const name of recordingNames) {
  const facts = readRecordedBlocks(name).map((block) => deriveBlockFacts(block, decoder));

  test(`${name}: balances equal those of the contracts`, () => {
    const sums = new Map<string, bigint>();
    for (const { wallet, tokenId, shares } of facts.flatMap(({ balances }) => balances)) {
      if (wallet === zeroAddress || tokenId === getCollateralId(contracts)) continue;
      const key = `${wallet} ${formatTokenId(tokenId)}`;
      sums.set(key, (sums.get(key) ?? 0n) + shares);
    }
    const expected = (readFixture(`${name}/expected-balances.json.gz`) as readonly Balance[])
      .filter(({ asset }) => /^\d+$/.test(asset))
      .map(({ address, holder, asset, amount, balance }) => {
        return `${(address ?? holder ?? "").toLowerCase()} ${asset} ${amount ?? balance}`;
      });
    const own = [...sums].flatMap(([key, sum]) => (sum === 0n ? [] : [`${key} ${sum}`]));
    assert.deepEqual(own.toSorted(), expected.toSorted());
  });

  test(`${name}: each operation is a cause in the ledger, and each cause an operation`, () => {
    const causes = groupActivity(facts.flatMap(({ ledger }) => ledger)).flatMap(
      ({ rows: [row] }) => (row === undefined ? [] : [row]),
    );
    const own = causes
      .filter(({ kind, wallet }) => Object.values(kinds).includes(kind) && !decoys.has(wallet))
      .map(({ txHash, wallet, kind, cash, nature }) => {
        return `${txHash} ${wallet} ${kind} ${hasCash(kind, nature !== null) ? cash : "any"}`;
      });
    const operations = readFixture(`${name}/expected-ops.json.gz`) as readonly Operation[];
    assert.deepEqual(own.toSorted(), operations.flatMap(formatOperation).toSorted());
    const odd = facts.flatMap(({ anomalies }) => anomalies.map(({ kind }) => kind));
    assert(!odd.includes("ledger_differs_from_transfers"));
  });
}

/** Positions that are not of a market have no collateral in the ledger, and that of a conversion is not logged. */
function hasCash(kind: string, isOther: boolean): boolean {
  return kind !== "convert" && !isOther;
}

function formatOperation(operation: Operation): string[] {
  const { tx_hash, user = "", amount = "0", payout = "0" } = operation;
  const kind = kinds[operation.kind];
  if (kind === undefined || tx_hash === ownerless) return [];
  const cash = kind.endsWith("split")
    ? -BigInt(amount)
    : BigInt(kind === "merge" ? amount : payout);
  const isOther = operation.kind.endsWith("_raw");
  return [`${tx_hash} ${user.toLowerCase()} ${kind} ${hasCash(kind, isOther) ? cash : "any"}`];
}
