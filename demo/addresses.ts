/** The addresses of accounts and contracts. They are fixed, so that a second start knows all of them. */
import { type Address, getContractAddress, keccak256, stringToBytes } from "viem";
import type { ContractsFile } from "../src/contracts/contracts.ts";

/** Returns the account of a name. No one has its private key; anvil accepts transactions from any account. */
function getAccount(name: string): Address {
  return `0x${keccak256(stringToBytes(`oddwire demo ${name}`)).slice(-40)}`;
}

/** The account that deploys and administers. */
export const admin = getAccount("admin");
/** The account that asks the questions and resolves them. */
export const creator = getAccount("creator");
/** The account that sends matches to the exchanges. */
export const operator = getAccount("operator");
export const feeReceiver = getAccount("fee receiver");
export const traders: readonly Address[] = Array.from({ length: 32 }, (_, index) =>
  getAccount(`trader ${index}`),
);

/** The contracts in the order in which `admin` deploys them. */
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

/** The address of a contract follows from the account that deploys it and the nonce, which is its index above. */
export const addresses = Object.fromEntries(
  deployOrder.map((name, nonce) => [
    name,
    getContractAddress({ from: admin, nonce: BigInt(nonce) }),
  ]),
) as Readonly<Record<Deployed, Address>>;

/** An exchange and the contracts that belong to it. */
export type Venue = {
  readonly exchange: Address;
  readonly generation: 1 | 2;
  readonly isNegRisk: boolean;
  /** The contract to which matches are sent. Exchanges of generation 1 have a fee module in front of them. */
  readonly entry: Address;
  /** The contract that splits and merges positions for the exchange. */
  readonly minter: Address;
  /** The collateral from which the ids of its tokens are derived. */
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

/** The contracts that the service indexes (`ODDWIRE_CONTRACTS_FILE`). */
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
