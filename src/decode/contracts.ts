/**
 * Which contracts are listened to. A log of any other address is ignored even when it looks right
 * (`chain.md`, rule 7): anyone can deploy a contract that emits the same events.
 */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { type Address, parseAddress } from "../base/ids.ts";

const address = Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" });
const startBlock = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const exchangeName = Type.Union([Type.Literal("standard"), Type.Literal("neg_risk")]);
const generation = Type.Union([Type.Literal(1), Type.Literal(2), Type.Literal(3)]);
const strict = { additionalProperties: false } as const;

const contractSchema = Type.Union([
  Type.Object(
    {
      kind: Type.Literal("exchange"),
      address,
      exchange: exchangeName,
      generation,
      start_block: startBlock,
    },
    strict,
  ),
  Type.Object(
    {
      kind: Type.Union([
        Type.Literal("fee_module"),
        Type.Literal("conditional_tokens"),
        Type.Literal("neg_risk_adapter"),
        Type.Literal("neg_risk_operator"),
        Type.Literal("uma_adapter_v1"),
        Type.Literal("uma_adapter"),
      ]),
      address,
      start_block: startBlock,
    },
    strict,
  ),
]);

/** The shape of the file that `ODDWIRE_CONTRACTS_FILE` names. */
const contractsFileSchema = Type.Object(
  {
    /** The token that backs positions in ConditionalTokens: USDC.e on Polygon, never pUSD. */
    collateral: address,
    /** The same for positions of neg-risk conditions. */
    wrapped_collateral: address,
    /** Accounts whose question texts are trusted; texts of others are marked untrusted. */
    known_creators: Type.Array(address, { maxItems: 1000 }),
    contracts: Type.Array(contractSchema, { minItems: 1, maxItems: 1000 }),
  },
  strict,
);

export type ContractsFile = Static<typeof contractsFileSchema>;
export type ExchangeName = "standard" | "neg_risk";
export type Generation = 1 | 2 | 3;
export type ExchangeContract = {
  readonly kind: "exchange";
  readonly address: Address;
  readonly exchange: ExchangeName;
  readonly generation: Generation;
  readonly startBlock: number;
};
export type OtherContract = {
  readonly kind: Exclude<ContractsFile["contracts"][number]["kind"], "exchange">;
  readonly address: Address;
  readonly startBlock: number;
};
export type Contract = ExchangeContract | OtherContract;

/** Everything about the deployment that the rules of `decode/` and `market/` need. */
export type Contracts = {
  readonly collateral: Address;
  readonly wrappedCollateral: Address;
  readonly knownCreators: ReadonlySet<Address>;
  readonly byAddress: ReadonlyMap<Address, Contract>;
  /** The first block of the oldest exchange: where `genesis` starts. */
  readonly genesisBlock: number;
};

/** Checks and indexes a contracts file; returns the mistakes in plain words instead when it is wrong. */
export function parseContracts(
  input: unknown,
): Contracts | { readonly mistakes: readonly string[] } {
  if (!Value.Check(contractsFileSchema, input)) return { mistakes: describeMistakes(input) };
  const contracts = input.contracts.map(toContract);
  const byAddress = new Map(contracts.map((contract) => [contract.address, contract]));
  const exchanges = contracts.filter((contract) => contract.kind === "exchange");
  if (byAddress.size < contracts.length) return { mistakes: ["an address is listed twice"] };
  if (exchanges.length === 0) return { mistakes: ["no contract of kind exchange is listed"] };
  return {
    collateral: toAddress(input.collateral),
    wrappedCollateral: toAddress(input.wrapped_collateral),
    knownCreators: new Set(input.known_creators.map(toAddress)),
    byAddress,
    genesisBlock: Math.min(...exchanges.map((exchange) => exchange.startBlock)),
  };
}

function describeMistakes(input: unknown): string[] {
  const mistakes = Value.Errors(contractsFileSchema, input).map(
    (error) => `${error.instancePath === "" ? "the file" : error.instancePath} ${error.message}`,
  );
  return [...new Set(mistakes)].slice(0, 10);
}

function toContract(entry: ContractsFile["contracts"][number]): Contract {
  const common = { address: toAddress(entry.address), startBlock: entry.start_block };
  return entry.kind === "exchange"
    ? { kind: entry.kind, exchange: entry.exchange, generation: entry.generation, ...common }
    : { kind: entry.kind, ...common };
}

function toAddress(text: string): Address {
  const parsed = parseAddress(text);
  if (parsed === null) throw new TypeError(`not an address: ${text}`);
  return parsed;
}
