/** The expected positions of the recording of wallets, and the results and fees that they depend on. */
import { parseTokenId, type TokenId, toSeq } from "../../src/base/ids.ts";
import type { FoldContext, Settlement } from "../../src/market/ledger/position.ts";
import { readFixture } from "./read-fixture.ts";

type ExpectedPosition = {
  readonly wallet: string;
  readonly token_id: string;
  readonly [field: string]: unknown;
};

type Markets = {
  readonly conditions: readonly {
    readonly tokens: readonly string[];
    readonly condition_id: string;
    readonly event_id: string | null;
    readonly legacy_condition_id: string | null;
  }[];
  readonly events: readonly {
    readonly event_id: string;
    readonly fee_bips?: number;
    readonly conditions: readonly string[];
  }[];
};

export function readExpectedPositions() {
  return readFixture("wallets/expected-positions.json.gz") as readonly {
    readonly block: number;
    readonly positions: readonly ExpectedPosition[];
  }[];
}

const markets = readFixture("wallets/expected-markets.json.gz") as Markets;
const feeBips = new Map(
  markets.events.flatMap(({ conditions, fee_bips = 0 }) =>
    conditions.map((id) => [id, fee_bips] as const),
  ),
);
const feeBipsByToken = new Map(
  markets.conditions.flatMap(({ tokens, condition_id }) =>
    tokens.map((token) => [parseTokenId(token), feeBips.get(condition_id) ?? 0] as const),
  ),
);

/** The tokens of generation 3 conditions that are linked to a legacy one. */
export const linkedTokens: ReadonlySet<string> = new Set(
  markets.conditions.flatMap(({ legacy_condition_id, tokens }) =>
    legacy_condition_id === null ? [] : tokens,
  ),
);

/** The fee of conversions of a token's event. */
export function getFeeBips(tokenId: TokenId): bigint {
  return BigInt(feeBipsByToken.get(tokenId) ?? 0);
}

/** ConditionResolution, ConditionResolved and the two events that make results of siblings derivable. */
const resultTopics = ["0xb44d84d3", "0xe560c1a2", "0x7b4e6339", "0x5bea118d"];

const resolutions = readResolutions();

/** The results through a block. */
export function getContext(block: number): FoldContext {
  return {
    getFeeBips,
    getSettlement: (tokenId) => {
      const settlement = resolutions.get(tokenId) ?? null;
      return settlement !== null && settlement.seq < toSeq(block + 1, 0) ? settlement : null;
    },
  };
}

/** A result stands between the transactions of its block as it does in the expected ledger. */
function readResolutions(): ReadonlyMap<TokenId, Settlement> {
  return new Map(
    recordedResults().flatMap(({ seq, tokens, numerators }) => {
      const sum = numerators.reduce((total, one) => total + one, 0n);
      return tokens.map((token, index) => {
        const numerator = numerators[index] ?? 0n;
        return [parseTokenId(token) as TokenId, { seq, timestamp: 0, numerator, sum }] as const;
      });
    }),
  );
}

function recordedResults() {
  const blocks = readFixture("wallets/chain.json.gz") as readonly {
    readonly number: number;
    readonly logs: readonly {
      readonly topics: readonly string[];
      readonly logIndex: string;
      readonly transactionHash: string;
    }[];
  }[];
  const rows = readFixture("wallets/expected-ledger.json.gz") as readonly {
    readonly kind: string;
    readonly block: number;
    readonly tx_hash: string;
    readonly tokens: readonly string[];
    readonly num: readonly string[];
  }[];
  const used = new Map<string, number>();
  return rows
    .filter(({ kind }) => kind === "resolution")
    .map(({ block, tx_hash, tokens, num }) => {
      const logs = blocks[block]?.logs.filter(
        (log) =>
          log.transactionHash === tx_hash &&
          resultTopics.some((topic) => log.topics[0]?.startsWith(topic)),
      );
      const key = `${block} ${tx_hash}`;
      const index = used.get(key) ?? 0;
      used.set(key, index + 1);
      const log = logs?.[Math.min(index, logs.length - 1)];
      return {
        seq: toSeq(block, Number(log?.logIndex)),
        tokens,
        numerators: num.map(BigInt),
      };
    });
}
