/** Trades on all exchanges. One that needs what nobody has does nothing. */
import type { Address, TokenId } from "../../../src/base/ids.ts";
import { fillDirectly } from "./contracts/exchange-v1.ts";
import type { Leg } from "./contracts/filling.ts";
import { match } from "./contracts/match.ts";
import * as markets from "./model-markets.ts";
import { another, anyAmount, anyPart, isPrepared, operator, type Turn, wallets } from "./turn.ts";

export function trade(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const condition = random.pick(markets.traded);
  if (!isPrepared(turn, condition)) return;
  // What an operator filled itself looks like a leg of the match that follows if it is the taker of that, too.
  if (tx.rows.some((row) => row.wallet === wallet && row.role === "operator")) return;
  const generation = condition.kind === "protocol_v2" ? 3 : random.pick([1, 2] as const);
  const outcome = random.pick([0, 1] as const);
  const side = random.pick(["BUY", "SELL"] as const);
  const spent = new Map<string, bigint>();
  const available = (account: Address, tokenId: TokenId) =>
    tx.balance(account, tokenId) - (spent.get(account + tokenId) ?? 0n);
  const [token, other] = [condition.tokens[outcome], condition.tokens[1 - outcome]] as [
    TokenId,
    TokenId,
  ];
  const legs: Leg[] = [];
  for (let count = random.integer(1, 4); count > 0; count -= 1) {
    const maker = random.pick(wallets);
    const isOther = random.chance(0.5);
    const isMakerSelling = isOther === (side === "SELL");
    const sold = isOther ? other : token;
    let shares = anyAmount(random);
    if (isMakerSelling) {
      shares = anyPart(random, available(maker, sold));
      spent.set(maker + sold, (spent.get(maker + sold) ?? 0n) + shares);
    }
    if (side === "SELL") {
      const rest = available(wallet, token);
      // What the maker was to sell stays unsold.
      if (rest < shares) continue;
      spent.set(wallet + token, (spent.get(wallet + token) ?? 0n) + shares);
    }
    if (shares === 0n) continue;
    const cash = (shares * BigInt(random.integer(0, 1_000))) / 1_000n;
    legs.push({ maker, isOther, shares, cash, feeBips: random.pick([0n, 0n, 25n, 1_000n]) });
  }
  if (legs.length === 0) return;
  const isRefunded = generation === 1 && random.chance(0.5);
  const feeModule = isRefunded ? random.pick(markets.feeModules.slice(0, 2)) : null;
  match(tx, {
    generation,
    condition,
    outcome,
    side,
    taker: wallet,
    feeBips: random.pick([0n, 0n, 40n, 900n]),
    legs,
    feeModule,
    feeReceiver: feeModule ?? operator,
    adapter: random.pick([0, 1] as const),
  });
}

export function tradeDirectly(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const condition = random.pick([...markets.standard, ...markets.negRisk]);
  if (!isPrepared(turn, condition)) return;
  const tokenId = random.pick(condition.tokens);
  const side = random.pick(["BUY", "SELL"] as const);
  const isBuy = side === "BUY";
  const filler = random.pick([operator, another(turn)]);
  const shares = anyPart(random, tx.balance(isBuy ? filler : wallet, tokenId));
  if (shares === 0n) return;
  const cash = (shares * BigInt(random.integer(1, 1_000))) / 1_000n;
  const fee = ((isBuy ? shares : cash) * random.pick([0n, 100n])) / 10_000n;
  const order = { owner: wallet, side, tokenId, shares, cash, fee };
  fillDirectly(tx, { condition, operator: filler, order });
}
