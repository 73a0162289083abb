/** The operations that the model picks from: those above, transfers, preparations and results. */
import type { TokenId } from "../../../src/base/ids.ts";
import type { TokenAmount } from "../../../src/contracts/events.ts";
import * as legacy from "./contracts/legacy-contracts.ts";
import * as modern from "./contracts/protocol-v2.ts";
import { mintForeign, sendBatch } from "./hostile-operations.ts";
import * as own from "./legacy-operations.ts";
import * as markets from "./model-markets.ts";
import * as later from "./modern-operations.ts";
import { trade, tradeDirectly } from "./trade-operations.ts";
import {
  another,
  anyPart,
  isPrepared,
  legacyMarkets,
  type Operation,
  operator,
  type Turn,
} from "./turn.ts";

/** Operations with how often they are picked. */
export const operations: readonly (readonly [weight: number, operation: Operation])[] = [
  [9, own.splitLegacy],
  [4, own.mergeLegacy],
  [6, own.changeOther],
  [18, trade],
  [1, tradeDirectly],
  [4, own.convertLegacy],
  [7, own.redeemLegacy],
  [6, transfer],
  [5, later.splitModern],
  [3, later.mergeModern],
  [2, later.horizontal],
  [2, later.convertModern],
  [4, later.combine],
  [3, later.wrap],
  [4, later.redeemModern],
  [3, later.migrate],
  [3, report],
];

/** Operations of a transaction of its own: what a contract keeps has an owner until the transaction ends. */
export const loneOperations: readonly Operation[] = [
  strand,
  strand,
  closeStranded,
  mintForeign,
  sendBatch,
];

/** Any tokens of a wallet. */
function anyHoldings({ tx, random, wallet }: Turn, isOfCtf: boolean): readonly TokenAmount[] {
  const held = [...tx.state.balances.keys()].flatMap((tokenId) => {
    const amount = tx.balance(wallet, tokenId);
    return amount > 0n && isCtfToken(tokenId) === isOfCtf ? [{ tokenId, amount }] : [];
  });
  return held.filter(() => random.chance(0.5)).slice(0, 4);
}

const modernTokens: ReadonlySet<TokenId> = new Set(
  [...markets.protocolV2, ...markets.combos].flatMap(({ tokens }) => tokens),
);
const wrappedTokens: ReadonlySet<TokenId> = new Set(markets.wrapped.map(({ to }) => to));

function isCtfToken(tokenId: TokenId): boolean {
  return !modernTokens.has(tokenId) && !wrappedTokens.has(tokenId);
}

/** One token or several, of which some are zero or named twice, to a wallet or to an account that keeps them. */
function transfer(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const isOfCtf = random.chance(0.6);
  const at = isOfCtf ? markets.ctf : markets.positionManager;
  const tokens = anyHoldings(turn, isOfCtf).map(({ tokenId, amount }) => {
    return { tokenId, amount: random.chance(0.1) ? 0n : anyPart(random, amount) };
  });
  const [first] = tokens;
  if (first === undefined) return;
  const to = random.pick([
    another(turn),
    another(turn),
    another(turn),
    wallet,
    operator,
    markets.burnAddress,
  ]);
  const parties = { at, operator: random.pick([wallet, operator]), from: wallet, to };
  if (tokens.length === 1 && random.chance(0.8)) {
    tx.move(parties, first);
    return tx.bookTransfer(wallet, to, [first]);
  }
  const half = first.amount / 2n;
  // Of any token, also of one whose market is not prepared.
  const anyToken = random.pick(markets.traded).tokens[0] as TokenId;
  const nothing = {
    tokenId: random.pick([...tx.state.balances.keys(), anyToken]),
    amount: 0n,
  };
  const twice = [
    ...(random.chance(0.5) ? [nothing] : []),
    { ...first, amount: first.amount - half },
    ...tokens.slice(1),
    { ...first, amount: half },
  ];
  tx.moveBatch(parties, twice);
  tx.bookTransfer(wallet, to, twice);
}

/** Tokens that a contract keeps: it pays them to the next one that it acts for, or nobody gets them. */
function strand(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const isOfCtf = random.chance(0.5);
  const [token] = anyHoldings(turn, isOfCtf);
  if (token === undefined) return;
  const { ctf, positionManager, modules, collateralAdapters, negRiskAdapter, exchanges } = markets;
  const to = isOfCtf
    ? random.pick([
        ...collateralAdapters.standard,
        negRiskAdapter,
        markets.autoRedeemer,
        ...exchanges.standard,
        exchanges.neg_risk[0],
        modules.binary,
      ])
    : random.pick([
        modern.getModule(token.tokenId),
        modern.getModule(token.tokenId),
        markets.router,
      ]);
  const amount = anyPart(random, token.amount);
  const at = isOfCtf ? ctf : positionManager;
  tx.move({ at, operator: wallet, from: wallet, to }, { ...token, amount });
  tx.bookTransfer(wallet, to, [{ ...token, amount }]);
}

/** Somebody merges what others sent to a module before. */
function closeStranded(turn: Turn): void {
  const { tx, random, wallet } = turn;
  for (const condition of markets.protocolV2) {
    const [yes = 0n, no = 0n] = condition.tokens.map((tokenId) =>
      tx.balance(condition.module, tokenId),
    );
    const amount = yes < no ? yes : no;
    if (amount === 0n) continue;
    const caller = random.pick([wallet, markets.router]);
    return modern.closeOwnerless(tx, { caller, recipient: wallet }, { condition, amount });
  }
}

/** Something is prepared, or gets its result. */
function report(turn: Turn): void {
  const { tx, random } = turn;
  const all = [...markets.standard, markets.threeOutcomes];
  const unprepared = all.filter((one) => !isPrepared(turn, one));
  if (unprepared.length > 0 && random.chance(0.4)) {
    return legacy.prepareCondition(tx, random.pick(unprepared));
  }
  if (random.chance(0.2)) return legacy.prepareQuestion(tx, random.pick(markets.events));
  const open = [...legacyMarkets(turn), ...markets.binary, ...markets.gen3Event].filter(
    (one) => isPrepared(turn, one) && !tx.state.resolved.has(one.id),
  );
  if (open.length === 0) return;
  const condition = random.pick(open);
  const [first, second] = random.pick([
    [1n, 0n],
    [0n, 1n],
    [1n, 1n],
    [3n, 7n],
  ] as const);
  if (condition.kind !== "protocol_v2") {
    legacy.resolveLegacy(tx, condition, [first, second]);
    if (condition.id !== markets.foreignPositions.id) return;
    for (const { tokens } of [markets.foreignPositions, markets.nestedPositions])
      tx.resolve(tokens, [first, second]);
  } else {
    const paid = (1_000_000n * first) / (first + second);
    modern.resolveAtModule(tx, condition, [paid, 1_000_000n - paid]);
  }
}
