/** Operations on positions of generation 3. One that needs what nobody has does nothing. */
import type { TokenId } from "../../../src/base/ids.ts";
import * as modern from "./contracts/protocol-v2.ts";
import * as markets from "./model-markets.ts";
import { each } from "./model-transaction.ts";
import { another, anyAmount, anyPart, smallest, type Turn } from "./turn.ts";

function anyActors(turn: Turn, recipientsMax = 1): modern.Actors {
  const { random, wallet } = turn;
  const count = random.integer(1, recipientsMax);
  const recipients = Array.from({ length: count }, () =>
    random.chance(0.75) ? wallet : another(turn),
  );
  return { owner: wallet, caller: random.pick([wallet, markets.router]), recipients };
}

export function splitModern(turn: Turn): void {
  const { tx, random } = turn;
  const condition = random.pick([...markets.protocolV2, ...markets.combos]);
  modern.split(tx, anyActors(turn, 2), { condition, amount: anyAmount(random) });
}

export function mergeModern(turn: Turn): void {
  const { tx, random } = turn;
  const held = [...markets.protocolV2, ...markets.combos].filter(
    ({ tokens }) => smallest(turn, tokens) > 0n,
  );
  if (held.length === 0) return;
  const condition = random.pick(held);
  const amount = anyPart(random, smallest(turn, condition.tokens));
  modern.merge(tx, anyActors(turn), { condition, amount });
}

export function horizontal(turn: Turn): void {
  const { tx, random } = turn;
  const yes = markets.gen3Event.map(({ tokens }) => tokens[0] as TokenId);
  const own = smallest(turn, yes);
  if (own > 0n && random.chance(0.5))
    modern.mergeHorizontally(tx, anyActors(turn), anyPart(random, own));
  else modern.splitHorizontally(tx, anyActors(turn), anyAmount(random));
}

export function convertModern(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const index = random.integer(0, markets.gen3Event.length - 1);
  const own = tx.balance(wallet, markets.gen3Event[index]?.tokens[1] as TokenId);
  if (own > 0n)
    modern.convertAtModule(tx, anyActors(turn), { index, amount: anyPart(random, own) });
}

/** The algebra of combinations: how the name, the ids and the recipients of an event are given. */
const algebra = [
  ["SplitOnCondition(address,bytes31,bytes31,bytes31,", "address,address,", 1],
  ["MergedOnCondition(address,bytes31,bytes31,bytes31,", "address,", 1],
  ["Extracted(address,bytes31,bytes31,bytes31,", "address,address,", 1],
  ["Injected(address,bytes31,bytes31,bytes31,", "address,", 1],
  ["SplitOnEvent(address,bytes31,bytes29,", "address[],", 2],
  ["MergedOnEvent(address,bytes31,bytes29,", "address,", 2],
  ["ConvertedOnEvent(address,bytes31,bytes29,uint256,", "address[],", 2],
  ["ConvertedToYesBasket(address,bytes31,", "address[],", 1],
  ["MergedFromYesBasket(address,bytes31,", "address,", 1],
] as const;

/** Combinations become others, in the form of an event with recipients or in the earlier one without. */
export function combine(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const tokens = markets.combos.flatMap((condition) => condition.tokens);
  const held = tokens.filter((tokenId) => tx.balance(wallet, tokenId) > 0n);
  const given = held.filter(() => random.chance(0.6)).slice(0, 2);
  if (given.length === 0) return;
  const amount = anyPart(random, smallest(turn, given));
  if (random.chance(0.3)) return compress(turn, given[0] as TokenId, amount);
  const made = tokens.filter((tokenId) => !given.includes(tokenId)).slice(0, random.integer(1, 3));
  const [head, recipients, ids] = random.pick(algebra);
  const isLater = random.chance(0.5);
  const actors = anyActors(turn, isLater && made.length > 1 ? made.length : 1);
  const [to = wallet] = actors.recipients;
  const id = markets.combos[0]?.id ?? "0x";
  const words = head.split(",").length - 2 - ids;
  const receivers =
    recipients === "address[],"
      ? [actors.recipients]
      : recipients
          .split(",")
          .slice(1)
          .map(() => to);
  const data = [...Array.from({ length: words }, () => id), ...(isLater ? receivers : []), amount];
  modern.replace(tx, actors, {
    kind: "convert",
    module: markets.modules.combinatorial,
    given: each(given, amount),
    made: each(made, amount),
    event: [
      `${head}${isLater ? recipients : ""}uint256)`,
      { topics: [actors.caller, ...Array.from({ length: ids }, () => id)], data },
    ],
  });
}

/** A position becomes a combination of one leg, or the other way round. */
export function wrap(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const pairs = markets.wrapped.flatMap(({ from, to }) => [
    ["Wrapped", from, to] as const,
    ["Unwrapped", to, from] as const,
  ]);
  const held = pairs.filter(([, old]) => tx.balance(wallet, old) > 0n);
  if (held.length === 0) return;
  const [name, old, made] = random.pick(held);
  const amount = anyPart(random, tx.balance(wallet, old));
  const isLater = random.chance(0.5);
  const actors = anyActors(turn);
  const to = isLater ? actors.recipients : [];
  modern.replace(tx, actors, {
    kind: name === "Wrapped" ? "wrap" : "unwrap",
    module: markets.modules.combinatorial,
    given: each([old], amount),
    made: each([made], amount),
    event: [
      `${name}(address,uint256,uint256,${isLater ? "address," : ""}uint256)`,
      { topics: [actors.caller], data: [old, made, ...to, amount] },
    ],
  });
}

/** Legs with a result leave a combination: fewer tokens, or collateral, or both. */
function compress(turn: Turn, old: TokenId, amount: bigint): void {
  const { tx, random, wallet } = turn;
  const isLater = random.chance(0.5);
  const actors = isLater ? anyActors(turn) : { ...anyActors(turn), recipients: [wallet] };
  const made = markets.combos.flatMap(({ tokens }) => tokens).find((tokenId) => tokenId !== old);
  const madeAmount = random.pick([0n, amount, amount / 2n]);
  const cash = random.pick([0n, amount - madeAmount, (amount - madeAmount) / 2n]);
  const to = isLater ? actors.recipients : [];
  modern.replace(tx, actors, {
    kind: "compress",
    module: markets.modules.combinatorial,
    given: each([old], amount),
    made: madeAmount === 0n || made === undefined ? [] : each([made], madeAmount),
    cash,
    event: [
      `Compressed(address,uint256,uint256,${isLater ? "address," : ""}uint256,uint256,uint256)`,
      { topics: [actors.caller, old, made ?? old], data: [...to, amount, madeAmount, cash] },
    ],
  });
}

export function redeemModern(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const held = markets.protocolV2
    .filter(({ id }) => tx.state.resolved.has(id))
    .flatMap(({ tokens }) => tokens)
    .filter((tokenId) => tx.balance(wallet, tokenId) > 0n);
  if (held.length === 0) return;
  const tokenId = random.pick(held);
  const own = tx.balance(wallet, tokenId);
  if (random.chance(0.4)) {
    const actors = {
      owner: wallet,
      caller: markets.autoRedeemer,
      recipients: [markets.autoRedeemer],
    };
    return modern.redeem(tx, actors, { tokenId, amount: own });
  }
  modern.redeem(tx, anyActors(turn), { tokenId, amount: anyPart(random, own) });
}

export function migrate(turn: Turn): void {
  const { tx, random, wallet } = turn;
  const condition = markets.mirror;
  if (!tx.state.prepared.has(condition.id)) {
    if (condition.legacy === null || !tx.state.prepared.has(condition.legacy.id)) return;
    tx.state.prepared.add(condition.id);
    const topics = [condition.id, condition.legacy.id];
    return tx.emit(condition.module, "MigrationConditionRegistered(bytes31,bytes32)", { topics });
  }
  const tokens = (condition.legacy?.tokens ?? []).flatMap((tokenId) => {
    const own = tx.balance(wallet, tokenId);
    return own > 0n && random.chance(0.7) ? [{ tokenId, amount: anyPart(random, own) }] : [];
  });
  if (tokens.length > 0)
    modern.migrate(tx, { wallet, isClosing: random.chance(0.5) }, { condition, tokens });
}
