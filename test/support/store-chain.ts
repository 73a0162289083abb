/** Stores generated chains: derives facts, cuts them into batches, encodes and appends them. */

import assert from "node:assert/strict";
import type { Block, BlockRef, Coverage } from "../../src/chain/raw-log.ts";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { type BlockFacts, deriveBlockFacts } from "../../src/market/block-facts.ts";
import { type Delta, toFinalDelta, toUnfinalizedDelta } from "../../src/market/delta.ts";
import type { Fill } from "../../src/market/fill.ts";
import { zeroAddress } from "../../src/market/ledger/ledger-row.ts";
import { type EncodedBatch, encodeFacts } from "../../src/storage/codec/encode-facts.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { appendFacts } from "./append-facts.ts";
import { knownContracts } from "./recorded-chain.ts";

const decoder = new LogDecoder(knownContracts());

export function getFacts(chain: readonly { readonly block: Block }[]): BlockFacts[] {
  return chain.map(({ block }) => deriveBlockFacts(block, decoder));
}

/** Adds rows of the ledger and balances to blocks: generated chains have fills, but no token transfers. */
export function withLedger(blocks: readonly BlockFacts[]): BlockFacts[] {
  return blocks.map((block) => {
    const rows = block.fills.flatMap((fill) => {
      const { seq, timestamp, txHash, tokenId, size: shares, value: cash } = fill;
      const none = { nature: null, feeShares: 0n, counterparty: fill.taker, via: null };
      const row = { ...none, seq, timestamp, txHash, tokenId, shares, cash, fee: fill.fee };
      const role = fill.role === "taker" ? "taker" : "maker";
      return [
        { ...row, wallet: fill.maker, sub: 0, kind: "trade", role } as const,
        { ...row, wallet: fill.taker, sub: 65_536, kind: "transfer_in", role: null } as const,
      ];
    });
    const balances = rows
      .filter(({ sub }) => sub === 0)
      .map(({ seq, timestamp, tokenId, wallet, shares }) => {
        return { seq, timestamp, tokenId, wallet, shares };
      });
    // Every fill mints the shares of its maker.
    const supplies = balances.map((one) => ({ ...one, wallet: zeroAddress, shares: -one.shares }));
    return { ...block, ledger: rows, balances: [...balances, ...supplies], supplies };
  });
}

export function getFills(blocks: readonly BlockFacts[]): Fill[] {
  return blocks.flatMap((block) => block.fills);
}

/** The last of these blocks, with the facts of all. */
export function joined(blocks: readonly BlockFacts[]): BlockFacts {
  const last = blocks.at(-1);
  assert(last !== undefined, "there is a block to join");
  return {
    ...last,
    fills: getFills(blocks),
    events: blocks.flatMap(({ events }) => events),
    quarantined: blocks.flatMap(({ quarantined }) => quarantined),
    anomalies: blocks.flatMap(({ anomalies }) => anomalies),
    ledger: blocks.flatMap(({ ledger }) => ledger),
    balances: blocks.flatMap(({ balances }) => balances),
    supplies: blocks.flatMap(({ supplies }) => supplies),
  };
}

/** The delta of final blocks that were appended together. */
export function joinedDelta(blocks: readonly BlockFacts[]): Delta {
  return toFinalDelta(joined(blocks), blocks[0]?.number);
}

/** The range from the first of these blocks to the last. */
export function getRange(blocks: readonly BlockFacts[]): Coverage {
  const [first, last] = [blocks[0], blocks.at(-1)];
  assert(first !== undefined && last !== undefined, "a range has a block");
  const { number, hash, timestamp }: BlockRef & { timestamp: number } = last;
  return { fromBlock: first.number, last: { number, hash, timestamp } };
}

export function encode(blocks: readonly BlockFacts[]): EncodedBatch {
  return encodeFacts(getRange(blocks), blocks);
}

/** Cuts blocks into consecutive batches of the given sizes, repeatedly. */
export function getBatches<OneBlock>(
  blocks: readonly OneBlock[],
  sizes: readonly number[],
): (readonly OneBlock[])[] {
  const batches: (readonly OneBlock[])[] = [];
  for (let from = 0, turn = 0; from < blocks.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    batches.push(blocks.slice(from, from + size));
    from += size;
  }
  return batches;
}

/** Appends `final` in batches and puts the other blocks into the head buffer. */
export async function fillStore(
  store: IndexedFacts,
  parts: {
    readonly final: readonly BlockFacts[];
    readonly unfinalized: readonly BlockFacts[];
    readonly sizes: readonly number[];
  },
): Promise<void> {
  for (const batch of getBatches(parts.final, parts.sizes)) await appendFacts(store, encode(batch));
  for (const block of parts.unfinalized) store.apply(toUnfinalizedDelta(block));
}
