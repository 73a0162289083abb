/** Who and what is where: fixed, so that a second start finds everything without being sent. */
import { type Address, getContractAddress, keccak256, stringToBytes } from "viem";
import type { ContractsFile } from "../src/contracts/contracts.ts";

/** The account of a name. No one has its key; anvil lets anybody send from it. */
function accountOf(name: string): Address {
  return `0x${keccak256(stringToBytes(`oddwire demo ${name}`)).slice(-40)}`;
}

/** Deploys, administers, and buys the shares that traders start with. */
export const admin = accountOf("admin");
/** Writes the questions and answers them. */
export const creator = accountOf("creator");
/** Brings matches to the exchanges. */
export const operator = accountOf("operator");
export const feeReceiver = accountOf("fee receiver");
export const traders: readonly Address[] = Array.from({ length: 32 }, (_, index) =>
  accountOf(`trader ${index}`),
);

/** The order in which `admin` deploys. */
export const deployOrder = [
  "collateral",
  "wrappedCollateral",
  "conditionalTokens",
  "negRiskAdapter",
  "negRiskOperator",
  "umaAdapter",
  "negRiskUmaAdapter",
  "exchangeV1",
  "negRiskExchangeV1",
  "exchangeV2",
  "negRiskExchangeV2",
  "feeModule",
  "negRiskFeeModule",
] as const;

export type Deployed = (typeof deployOrder)[number];

/** Addresses follow from the account that deploys and its count of transactions, in this order. */
export const addresses = Object.fromEntries(
  deployOrder.map((name, nonce) => [
    name,
    getContractAddress({ from: admin, nonce: BigInt(nonce) }),
  ]),
) as Readonly<Record<Deployed, Address>>;

/** An exchange with what belongs to it. */
export type Venue = {
  readonly exchange: Address;
  readonly generation: 1 | 2;
  readonly isNegRisk: boolean;
  /** Where matches are brought: a fee module stands before the exchanges of generation 1. */
  readonly entry: Address;
  /** Splits and merges for it. */
  readonly minter: Address;
  /** The collateral in the formula of its tokens' ids. */
  readonly backing: Address;
};

const standard = {
  isNegRisk: false,
  minter: addresses.conditionalTokens,
  backing: addresses.collateral,
};
const negRisk = {
  isNegRisk: true,
  minter: addresses.negRiskAdapter,
  backing: addresses.wrappedCollateral,
};

export const venues = {
  standardV1: {
    ...standard,
    exchange: addresses.exchangeV1,
    generation: 1,
    entry: addresses.feeModule,
  },
  negRiskV1: {
    ...negRisk,
    exchange: addresses.negRiskExchangeV1,
    generation: 1,
    entry: addresses.negRiskFeeModule,
  },
  standardV2: {
    ...standard,
    exchange: addresses.exchangeV2,
    generation: 2,
    entry: addresses.exchangeV2,
  },
  negRiskV2: {
    ...negRisk,
    exchange: addresses.negRiskExchangeV2,
    generation: 2,
    entry: addresses.negRiskExchangeV2,
  },
} as const satisfies Readonly<Record<string, Venue>>;

export type VenueName = keyof typeof venues;

/** The contracts that the service listens to (`ODDWIRE_CONTRACTS_FILE`). */
export const contractsFile: ContractsFile = {
  collateral: addresses.collateral,
  wrapped_collateral: addresses.wrappedCollateral,
  known_creators: [creator],
  contracts: [
    ...Object.values(venues).map((venue) => ({
      kind: "exchange" as const,
      address: venue.exchange,
      exchange: venue.isNegRisk ? ("neg_risk" as const) : ("standard" as const),
      generation: venue.generation,
      start_block: 0,
    })),
    { kind: "fee_module", address: addresses.feeModule, start_block: 0 },
    { kind: "fee_module", address: addresses.negRiskFeeModule, start_block: 0 },
    { kind: "conditional_tokens", address: addresses.conditionalTokens, start_block: 0 },
    { kind: "neg_risk_adapter", address: addresses.negRiskAdapter, start_block: 0 },
    { kind: "neg_risk_operator", address: addresses.negRiskOperator, start_block: 0 },
    { kind: "uma_adapter", address: addresses.umaAdapter, start_block: 0 },
    { kind: "uma_adapter", address: addresses.negRiskUmaAdapter, start_block: 0 },
  ],
};
