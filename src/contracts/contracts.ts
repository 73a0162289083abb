/**
 * The contracts whose logs are indexed. Logs of other addresses are ignored even if they look right: anyone can
 * deploy a contract that emits the same events (`docs/counting.md`, rule 7).
 */
import { type Static, type TObject, Type } from "typebox";
import { AppError } from "../base/errors.ts";
import type { Address } from "../base/ids.ts";
import { address } from "../base/input/client-texts.ts";
import { compileReader } from "../base/input/compile-reader.ts";
import { isJsonObject } from "../base/json.ts";
import { otherDecoders } from "./other-decoders.ts";

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

type Entry<Kind extends Contract> = Omit<Kind, "address" | "startBlock"> & {
  readonly address: string;
  readonly start_block: number;
};

/** The file at `ODDWIRE_CONTRACTS_FILE`. */
export type ContractsFile = {
  readonly collateral: string;
  readonly wrapped_collateral: string;
  readonly known_creators: readonly string[];
  readonly known_implementations?: readonly string[];
  readonly contracts: readonly (Entry<ExchangeContract> | Entry<OtherContract>)[];
};

const otherKinds = Object.keys(otherDecoders) as (keyof typeof otherDecoders)[];
const start_block = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const readFile = getReader(
  Type.Object({
    /** The token that backs positions in ConditionalTokens; on Polygon USDC.e, never pUSD. */
    collateral: address,
    /** The token that backs positions of neg-risk conditions. */
    wrapped_collateral: address,
    /** Accounts whose question texts are trusted. Texts of other accounts are marked as untrusted. */
    known_creators: Type.Array(address, { maxItems: 1000 }),
    /** Implementations of proxies whose events this version knows. Upgrades to others raise a warning. */
    known_implementations: Type.Optional(Type.Array(address, { maxItems: 1000 })),
    /** Entries are read one by one, each by the schema of its kind. */
    contracts: Type.Array(Type.Object({}), { minItems: 1, maxItems: 1000 }),
  }),
);
const readKind = getReader(Type.Object({ kind: Type.Enum(["exchange", ...otherKinds]) }));
const readExchange = getReader(
  Type.Object({
    kind: Type.Enum(["exchange"]),
    address,
    exchange: Type.Enum(["standard", "neg_risk"]),
    generation: Type.Enum([1, 2, 3]),
    start_block,
  }),
);
const readOther = getReader(Type.Object({ kind: Type.Enum(otherKinds), address, start_block }));

/** The deployment: all that decoding and the rules of `market/` need to know about the contracts. */
export type Contracts = {
  readonly collateral: Address;
  readonly wrappedCollateral: Address;
  readonly knownCreators: ReadonlySet<Address>;
  readonly knownImplementations: ReadonlySet<Address>;
  readonly byAddress: ReadonlyMap<Address, Contract>;
  /** The first block of the oldest exchange: the block that the start block `genesis` stands for. */
  readonly genesisBlock: number;
  /** Whether the events of wallets are decoded (`ODDWIRE_WALLETS`). */
  readonly wallets: boolean;
};

/** Parses a contracts file, or returns its mistakes as sentences for the operator. */
export function parseContracts(
  input: unknown,
): Contracts | { readonly mistakes: readonly string[] } {
  if (!isJsonObject(input)) return { mistakes: ["the file must be a JSON object"] };
  const mistakes: string[] = [];
  const file = orMistakes(mistakes, "", () => readFile(input));
  const entries = Array.isArray(input["contracts"]) ? input["contracts"] : [];
  const contracts = (entries as readonly unknown[]).flatMap((entry, index) => {
    return orMistakes(mistakes, `contracts[${index}].`, () => readContract(entry)) ?? [];
  });
  if (file === null || mistakes.length > 0) return { mistakes: mistakes.slice(0, mistakesMax) };
  const byAddress = new Map(contracts.map((contract) => [contract.address, contract]));
  const exchanges = contracts.filter((contract) => contract.kind === "exchange");
  if (byAddress.size < contracts.length) return { mistakes: ["an address is listed twice"] };
  if (exchanges.length === 0) return { mistakes: ["no contract of kind exchange is listed"] };
  return {
    collateral: file.collateral,
    wrappedCollateral: file.wrapped_collateral,
    knownCreators: new Set(file.known_creators),
    knownImplementations: new Set(file.known_implementations),
    byAddress,
    genesisBlock: Math.min(...exchanges.map((exchange) => exchange.startBlock)),
    wallets: true,
  };
}

const mistakesMax = 10;

function readContract(entry: unknown): Contract {
  // An entry of an unknown kind has no other mistakes, because its fields are not known.
  const isKindGiven = isJsonObject(entry) && "kind" in entry;
  const { kind } = readKind(isKindGiven ? { kind: entry["kind"] } : {});
  // `FactsIdentity` hashes contracts as JSON, so the order of their fields is part of it.
  if (kind !== "exchange") {
    const other = readOther(entry);
    return { kind, address: other.address, startBlock: other.start_block };
  }
  const { exchange, generation, ...other } = readExchange(entry);
  return { kind, exchange, generation, address: other.address, startBlock: other.start_block };
}

function getReader<Schema extends TObject>(schema: Schema) {
  const read = compileReader(schema, "frame");
  return (input: unknown) => read(input) as Static<Schema>;
}

/** Returns what `read` returns; `null` if it finds mistakes, which are added to `mistakes` with their path. */
function orMistakes<Value>(mistakes: string[], path: string, read: () => Value): Value | null {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    mistakes.push(...thrown.details.map(({ parameter, issue }) => `${path}${parameter} ${issue}`));
    return null;
  }
}
