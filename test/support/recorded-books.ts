/** The books of the recording of wallets at any of its blocks, on its chain or on a branch that was replaced. */
import type { Address, TokenId } from "../../src/base/ids.ts";
import { parseTokenId } from "../../src/base/ids.ts";
import {
  bookRow,
  emptyPosition,
  type ModelPosition,
  settle,
} from "../sim/ledger/model-position.ts";
import { toModelRow } from "../sim/ledger/model-row.ts";
import {
  type Branch,
  type ExpectedRow,
  readExpectedBalances,
  readExpectedLedger,
} from "./recorded-ledger.ts";

/** What wallets did, have and made through a block. */
export type RecordedBooks = {
  /** The causes, without resolutions. */
  readonly rows: readonly ExpectedRow[];
  /** By wallet, then by token. */
  readonly positions: ReadonlyMap<string, ReadonlyMap<TokenId, ModelPosition>>;
  /** By token, the balances above 0 of all holders. */
  readonly balances: ReadonlyMap<TokenId, ReadonlyMap<string, bigint>>;
};

const ledger = readExpectedLedger();
const balances = readExpectedBalances();

/** The books through a block of the chain; with a branch, through the end of that. */
export function getBooks(through: number, branch: Branch | null = null): RecordedBooks {
  const own = ledger.filter(({ block }) => block <= through);
  const all = [...own, ...(branch?.ledger ?? [])];
  return {
    rows: all.filter(({ kind }) => kind !== "resolution"),
    positions: foldRows(all),
    balances: addBalances(through, branch),
  };
}

function foldRows(rows: readonly ExpectedRow[]): Map<string, Map<TokenId, ModelPosition>> {
  const wallets = new Map<string, Map<TokenId, ModelPosition>>();
  const payouts = new Map<TokenId, Payout>();
  for (const row of rows) {
    if (row.kind === "resolution") {
      for (const [tokenId, payout] of readPayouts(row)) {
        payouts.set(tokenId, payout);
        const held = [...wallets.values()].flatMap((positions) => positions.get(tokenId) ?? []);
        for (const position of held) settle(position, payout.numerator, payout.sum);
      }
      continue;
    }
    const positions = wallets.get(row.wallet) ?? new Map<TokenId, ModelPosition>();
    wallets.set(row.wallet, positions);
    const get = (tokenId: TokenId) => {
      const position = positions.get(tokenId) ?? emptyPosition();
      positions.set(tokenId, position);
      return position;
    };
    const cash = BigInt(row.cash ?? 0);
    const booked = toModelRow({
      wallet: row.wallet as Address,
      kind: row.kind,
      nature: (row.nature ?? null) as "full" | null,
      cash,
      fee: BigInt(row.fee ?? 0),
      tokens: row.tokens.map(([token, shares]) => {
        return { tokenId: parseTokenId(token) as TokenId, amount: BigInt(shares) };
      }),
    });
    bookRow(booked, { get, payouts, paid: cash });
  }
  return wallets;
}

type Payout = { readonly numerator: bigint; readonly sum: bigint };

/** What the tokens of a resolution pay. */
function readPayouts({ tokens, num = [] }: ExpectedRow): (readonly [TokenId, Payout])[] {
  const sum = num.reduce((total, one) => total + BigInt(one), 0n);
  // The tokens of a resolution have no amounts.
  return (tokens as unknown as readonly string[]).map((token, index) => {
    return [parseTokenId(token) as TokenId, { numerator: BigInt(num[index] ?? 0), sum }];
  });
}

function addBalances(through: number, branch: Branch | null) {
  const { holders, tokens, blocks } = balances;
  const changes = blocks
    .filter(([number]) => number <= through)
    .flatMap(([, changed]) =>
      changed.map(([holder, token, size]) => [holders[holder], tokens[token], size] as const),
    );
  const branched = (branch?.balances ?? []).flatMap(([, changed]) =>
    changed.map(([holder, token, size]) => [holder, parseTokenId(token), size] as const),
  );
  const byToken = new Map<TokenId, Map<string, bigint>>();
  for (const [holder = "", token, size] of [...changes, ...branched]) {
    if (token === undefined || token === null) continue;
    const held = byToken.get(token) ?? new Map<string, bigint>();
    byToken.set(token, held);
    if (size === "0") held.delete(holder);
    else held.set(holder, BigInt(size));
  }
  return byToken;
}
