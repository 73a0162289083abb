/** What anyone can do at ConditionalTokens with tokens of worthless collateral: any amounts, in batches of any form. */
import type { TokenId } from "../../../src/base/ids.ts";
import { toTokenId } from "../../../src/base/ids.ts";
import type { TokenAmount } from "../../../src/contracts/events.ts";
import { changeAtCtf, mintAtCtf } from "./contracts/legacy-contracts.ts";
import * as markets from "./model-markets.ts";
import { each } from "./model-transaction.ts";
import { another, operator, type Turn } from "./turn.ts";

/** The largest amount of a token, and amounts around the largest that a signed number holds. */
const largeAmounts = [2n ** 256n - 1n, 2n ** 255n, 2n ** 255n - 1n, 10n ** 31n] as const;
const entriesMax = 300;

/** Mints a pair of tokens that nobody has seen, and sends it to a wallet, part of it or all. */
export function mintForeign(turn: Turn): void {
  const { tx, random, wallet } = turn;
  if (!tx.state.prepared.has(markets.foreignPositions.id)) return;
  const tokens = newTokens(turn, 2);
  const amount = random.pick(largeAmounts);
  const made = { nature: "foreign", from: null, sets: [1n, 2n] } as const;
  const condition = { ...markets.foreignPositions, tokens };
  if (amount < 2n ** 255n) changeAtCtf(tx, { wallet, kind: "split" }, { condition, amount, made });
  else {
    mintAtCtf(tx, wallet, { condition, amount, made });
    tx.book({ wallet, kind: "transfer_in", tokens: each(tokens, amount) });
  }
  const part = random.pick([amount, amount - 1n, amount / 2n + 1n]);
  send(turn, each(tokens, part));
}

/** Sends a batch of many tokens in which most are named several times, and some are zero. */
export function sendBatch(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const tokens = newTokens(turn, random.integer(1, 40));
  const entries = Array.from({ length: random.integer(2, entriesMax) }, (_, index) => ({
    tokenId: random.pick(tokens),
    amount: index === 0 ? 0n : BigInt(random.integer(0, 3)),
  }));
  const { ctf, foreignPositions } = markets;
  if (!tx.state.prepared.has(foreignPositions.id)) return;
  const made = { nature: "foreign", from: null, sets: [1n] } as const;
  for (const tokenId of tokens) {
    const condition = { ...foreignPositions, tokens: [tokenId] };
    changeAtCtf(tx, { wallet, kind: "split" }, { condition, amount: 1_000n, made });
  }
  const to = another(turn);
  tx.moveBatch({ at: ctf, operator: wallet, from: wallet, to }, entries);
  tx.bookTransfer(wallet, to, entries);
}

function send(turn: Turn, tokens: readonly TokenAmount[]): void {
  const { tx, random, wallet } = turn;
  const to = random.pick([another(turn), operator, markets.burnAddress]);
  const parties = { at: markets.ctf, operator: wallet, from: wallet, to };
  const nothing = { tokenId: random.pick(markets.standard).tokens[0] as TokenId, amount: 0n };
  const halves = tokens.flatMap(({ tokenId, amount }) => [
    { tokenId, amount: amount / 2n },
    { tokenId, amount: amount - amount / 2n },
  ]);
  const batch = random.pick([tokens, [nothing, ...tokens], halves]);
  tx.moveBatch(parties, batch);
  tx.bookTransfer(wallet, to, batch);
}

/** Ids that are of no market, and of nothing before. */
function newTokens({ tx }: Turn, count: number): TokenId[] {
  const first = BigInt(tx.state.supply.size);
  return Array.from({ length: count }, (_, index) =>
    toTokenId((1n << 248n) * 0xeen + first * 1_000n + BigInt(index)),
  );
}
