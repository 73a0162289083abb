/** A match on the exchange of a generation. */
import type { Address, TokenId } from "../../../../src/base/ids.ts";
import type { Side } from "../../../../src/contracts/events.ts";
import { exchanges, negRiskAdapter } from "../model-markets.ts";
import type { ModelTransaction } from "../model-transaction.ts";
import { matchV1 } from "./exchange-v1.ts";
import { matchPlain, matchV2, matchV3 } from "./exchange-v2.ts";
import { type Filled, type Match, newOrderHash } from "./filling.ts";

export function match(tx: ModelTransaction, plan: Match): void {
  const { condition, generation, outcome, side } = plan;
  const token = condition.tokens[outcome] as TokenId;
  const other = condition.tokens[1 - outcome] as TokenId;
  const toFilled = (
    order: Pick<Filled, "owner" | "side" | "tokenId" | "shares" | "cash">,
    feeBips: bigint,
  ): Filled => {
    const received = generation === 1 && order.side === "BUY" ? order.shares : order.cash;
    const fee = (received * feeBips) / 10_000n;
    return { ...order, fee, orderHash: newOrderHash(tx) };
  };
  const makers = plan.legs.map(({ maker, isOther, shares, cash, feeBips }) => {
    const makerSide: Side = isOther === (side === "BUY") ? "BUY" : "SELL";
    const tokenId = isOther ? other : token;
    return toFilled({ owner: maker, side: makerSide, tokenId, shares, cash }, feeBips);
  });
  const shares = plan.legs.reduce((sum, leg) => sum + leg.shares, 0n);
  const cash = plan.legs.reduce(
    (sum, leg) => sum + (leg.isOther ? leg.shares - leg.cash : leg.cash),
    0n,
  );
  const takerOrder = toFilled(
    { owner: plan.taker, side, tokenId: token, shares, cash },
    plan.feeBips,
  );
  const isNegRisk = condition.kind === "neg_risk";
  const exchange =
    generation === 3
      ? exchanges.protocolV2
      : (exchanges[isNegRisk ? "neg_risk" : "standard"][generation - 1] as Address);
  const operator = generation === 1 && isNegRisk ? negRiskAdapter : exchange;
  const filling = { ...plan, tx, exchange, operator, makers, takerOrder };
  const isPlain = plan.legs.every(({ isOther }) => !isOther);
  if (generation === 1) matchV1(filling);
  else if (isPlain) matchPlain(filling);
  else if (generation === 2) matchV2(filling);
  else matchV3(filling);
}
