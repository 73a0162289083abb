/** Compares stored balances with those that the token contracts report. */

import { formatTokenId } from "../../base/ids.ts";
import type { BlockRef, Coverage } from "../../chain/raw-log.ts";
import type { ChainSource } from "../../chain/sync/chain-source.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { parseGen3TokenId } from "../../market/ids/gen3-ids.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import { readBalanceSample, type StoredBalance } from "../../storage/read-balance-sample.ts";

/** A balance that differs. Amounts are micros. */
type WrongBalance = {
  readonly wallet: string;
  readonly token_id: string;
  readonly stored: string;
  readonly contract: string;
};

/** How many balances were compared at which block, and those that differ. */
export type BalanceCheck = {
  readonly block: number;
  readonly compared: number;
  readonly wrong: readonly WrongBalance[];
};

type Sources = {
  readonly engine: Engine;
  readonly coverage: Coverage;
  readonly contracts: Contracts;
  readonly source: Pick<ChainSource<unknown>, "readBalances">;
};

/** Pairs of one call. A node computes them within its limits of gas and size. */
const pairsPerCall = 200;

/**
 * Compares a random sample at the last stored block. With a later start than the token contract, compares what balances
 * changed since the block before. Throws an `EndpointError` without a node that has the state of these blocks.
 */
export async function checkBalances(
  { engine, coverage, contracts, source }: Sources,
  count: number,
): Promise<BalanceCheck> {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const sample = await readBalanceSample({ engine, coverage }, { count, seed }, contracts);
  const { last, fromBlock } = coverage;
  const wrong: WrongBalance[] = [];
  for (const kind of ["conditional_tokens", "position_manager"] as const) {
    const contract = contracts.byAddress.values().find((one) => one.kind === kind);
    const ofContract = sample.filter(({ tokenId }) => {
      return (parseGen3TokenId(tokenId) === null) === (kind === "conditional_tokens");
    });
    if (contract === undefined) continue;
    for (let at = 0; at < ofContract.length; at += pairsPerCall) {
      const pairs = ofContract.slice(at, at + pairsPerCall);
      const read = (block: BlockRef["number"]) =>
        source.readBalances(pairs, { contract: contract.address, block });
      const after = await read(last.number);
      const before = fromBlock > contract.startBlock ? await read(fromBlock - 1) : null;
      const changes = after.map((balance, index) => balance - (before?.[index] ?? 0n));
      wrong.push(...findWrong(pairs, changes));
    }
  }
  return { block: last.number, compared: sample.length, wrong };
}

function findWrong(pairs: readonly StoredBalance[], changes: readonly bigint[]): WrongBalance[] {
  return pairs.flatMap(({ wallet, tokenId, shares }, index) => {
    const contract = changes[index] ?? 0n;
    if (BigInt.asUintN(256, shares) === BigInt.asUintN(256, contract)) return [];
    return {
      wallet,
      token_id: formatTokenId(tokenId),
      stored: `${shares}`,
      contract: `${contract}`,
    };
  });
}
