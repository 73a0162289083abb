/**
 * The contracts whose logs are indexed. A log of any other address is ignored even if it looks right
 * (`docs/counting.md`, rule 7): anyone can deploy a contract that emits the same events.
 */
import { type Static, type TSchema, Type } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import { Value } from "typebox/value";
import type { Address } from "../base/ids.ts";
import { otherDecoders } from "./other-decoders.ts";

const address = Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" });
const startBlock = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const strict = { additionalProperties: false } as const;
const otherKinds = Object.keys(otherDecoders) as (keyof typeof otherDecoders)[];

const exchangeSchema = Type.Object(
  {
    kind: Type.Literal("exchange"),
    address,
    exchange: Type.Enum(["standard", "neg_risk"]),
    generation: Type.Enum([1, 2, 3]),
    start_block: startBlock,
  },
  strict,
);
const otherSchema = Type.Object(
  { kind: Type.Enum(otherKinds), address, start_block: startBlock },
  strict,
);
/** The schema for an entry of an unknown kind. Its error lists the known kinds. */
const anyKindSchema = Type.Object({ kind: Type.Enum(["exchange", ...otherKinds]) });

/** The schema of the file at `ODDWIRE_CONTRACTS_FILE`. */
const contractsFileSchema = Type.Object(
  {
    /** The token that backs positions in ConditionalTokens; on Polygon USDC.e, never pUSD. */
    collateral: address,
    /** The token that backs positions of neg-risk conditions. */
    wrapped_collateral: address,
    /** Accounts whose question texts are trusted. Texts of other accounts are marked as untrusted. */
    known_creators: Type.Array(address, { maxItems: 1000 }),
    /** Entries are checked one by one, each against the schema of its kind. */
    contracts: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 1000 }),
  },
  strict,
);

export type ContractsFile = Omit<Static<typeof contractsFileSchema>, "contracts"> & {
  contracts: (Static<typeof exchangeSchema> | Static<typeof otherSchema>)[];
};
export type ExchangeName = "standard" | "neg_risk";
export type Generation = 1 | 2 | 3;
export type ExchangeContract = {
  readonly kind: "exchange";
  readonly address: Address;
  readonly exchange: ExchangeName;
  readonly generation: Generation;
  readonly startBlock: number;
};
/** A contract that is not an exchange. */
type OtherContract = {
  readonly kind: keyof typeof otherDecoders;
  readonly address: Address;
  readonly startBlock: number;
};
export type Contract = ExchangeContract | OtherContract;

/** The deployment: all that decoding and the rules of `market/` need to know about the contracts. */
export type Contracts = {
  readonly collateral: Address;
  readonly wrappedCollateral: Address;
  readonly knownCreators: ReadonlySet<Address>;
  readonly byAddress: ReadonlyMap<Address, Contract>;
  /** The first block of the oldest exchange: the block that the start block `genesis` stands for. */
  readonly genesisBlock: number;
};

/** Parses a contracts file, or returns its mistakes as sentences for the operator. */
export function parseContracts(
  input: unknown,
): Contracts | { readonly mistakes: readonly string[] } {
  const mistakes = mistakesOf(input);
  if (mistakes.length > 0) return { mistakes };
  const file = input as ContractsFile;
  const contracts = file.contracts.map(toContract);
  const byAddress = new Map(contracts.map((contract) => [contract.address, contract]));
  const exchanges = contracts.filter((contract) => contract.kind === "exchange");
  if (byAddress.size < contracts.length) return { mistakes: ["an address is listed twice"] };
  if (exchanges.length === 0) return { mistakes: ["no contract of kind exchange is listed"] };
  return {
    collateral: toAddress(file.collateral),
    wrappedCollateral: toAddress(file.wrapped_collateral),
    knownCreators: new Set(file.known_creators.map(toAddress)),
    byAddress,
    genesisBlock: Math.min(...exchanges.map((exchange) => exchange.startBlock)),
  };
}

const mistakesMax = 10;

function mistakesOf(input: unknown): string[] {
  const mistakes = mistakesAgainst(contractsFileSchema, input, "");
  for (const [index, entry] of entriesOf(input).entries()) {
    mistakes.push(...mistakesAgainst(schemaOf(entry), entry, `contracts[${index}]`));
  }
  return mistakes.slice(0, mistakesMax);
}

function entriesOf(input: unknown): readonly unknown[] {
  const isObject = typeof input === "object" && input !== null;
  return isObject && "contracts" in input && Array.isArray(input.contracts) ? input.contracts : [];
}

function schemaOf(entry: unknown): TSchema {
  if (!Value.Check(anyKindSchema, entry)) return anyKindSchema;
  return entry.kind === "exchange" ? exchangeSchema : otherSchema;
}

function mistakesAgainst(schema: TSchema, value: unknown, place: string): string[] {
  return (
    Value.Errors(schema, value)
      // An unknown field is reported twice: with this keyword, and by name on its object.
      .filter(({ keyword }) => keyword !== "boolean")
      .map((error) => `${pathOf(place, error.instancePath) || "the file"} ${inWords(error)}`)
  );
}

/** Formats a JSON pointer such as `/known_creators/0` as `known_creators[0]`. */
function pathOf(place: string, pointer: string): string {
  const path = place + pointer.replaceAll(/\/([0-9]+)/g, "[$1]").replaceAll("/", ".");
  return path.replace(/^\./, "");
}

/** Returns the text of an error. That of the schema checker is good enough for most mistakes. */
function inWords(error: TLocalizedValidationError): string {
  switch (error.keyword) {
    case "pattern":
      return "must be an address: 0x and 40 hex digits";
    case "enum":
      return `must be one of ${error.params.allowedValues.join(", ")}`;
    case "additionalProperties":
      return `must not have ${error.params.additionalProperties.join(", ")}`;
    default:
      return error.message;
  }
}

function toContract(entry: ContractsFile["contracts"][number]): Contract {
  const common = { address: toAddress(entry.address), startBlock: entry.start_block };
  return entry.kind === "exchange"
    ? { kind: entry.kind, exchange: entry.exchange, generation: entry.generation, ...common }
    : { kind: entry.kind, ...common };
}

/** Converts a text that has passed the schema. */
function toAddress(text: string): Address {
  return text.toLowerCase() as Address;
}
