import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ContractsFile, parseContracts } from "./contracts.ts";
import { polygonContracts } from "./polygon-contracts.ts";

const exchange = {
  kind: "exchange",
  address: "0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E",
  exchange: "standard",
  generation: 1,
  start_block: 5,
} as const;
const feeModule = {
  kind: "fee_module",
  address: "0xE3f18aCc55091e2c48d883fc8C8413319d4Ab7b0",
  start_block: 3,
} as const;

const anyKind =
  "one of exchange, fee_module, conditional_tokens, neg_risk_adapter, neg_risk_operator, " +
  "uma_adapter_v1, uma_adapter, optimistic_oracle, oracle, oracle_aggregator, reporter_module, " +
  "chainlink_module, position_manager, oo_reporter, binary_module, " +
  "neg_risk_module, combinatorial_module, collateral_adapter, auto_redeemer, " +
  "router, neg_risk_vault, burn_address";

function without(contract: object, field: string): unknown {
  return Object.fromEntries(Object.entries(contract).filter(([name]) => name !== field));
}

function fileWith(...contracts: readonly unknown[]): unknown {
  return { ...polygonContracts, contracts };
}

function mistakesIn(input: unknown): readonly string[] {
  const parsed = parseContracts(input);
  return "mistakes" in parsed ? parsed.mistakes : [];
}

test("the built-in contracts of Polygon are valid", () => {
  const contracts = parseContracts(polygonContracts);
  assert(!("mistakes" in contracts));
  assert.equal(contracts.byAddress.size, polygonContracts.contracts.length);
  assert.equal(contracts.genesisBlock, 33_605_403);
  assert.equal(contracts.collateral, "0x2791bca1f2de4661ed88a30c99a7a9449aa84174");
  assert.deepEqual(contracts.byAddress.get("0xe3333700ca9d93003f00f0f71f8515005f6c00aa" as never), {
    kind: "exchange",
    exchange: "standard",
    generation: 3,
    address: "0xe3333700ca9d93003f00f0f71f8515005f6c00aa",
    startBlock: 87_479_409,
  });
});

test("the genesis block is the start of the oldest exchange, not of the oldest contract", () => {
  const contracts = parseContracts(fileWith(feeModule, exchange));
  assert("genesisBlock" in contracts);
  assert.equal(contracts.genesisBlock, 5);
});

describe("mistakes are reported in plain words, with their place", () => {
  const cases: readonly (readonly [string, unknown, readonly string[]])[] = [
    ["not an object", null, ["the file must be a JSON object"]],
    ["a list", [exchange], ["the file must be a JSON object"]],
    [
      "no contracts",
      fileWith(),
      ["contracts must be a list of 1 to 1000, each a JSON object; got []"],
    ],
    [
      "a kind that does not exist",
      fileWith(exchange, { ...exchange, kind: "exchang" }),
      [`contracts[1].kind must be ${anyKind}; got "exchang"; did you mean exchange?`],
    ],
    ["no kind", fileWith({}), [`contracts[0].kind is required: ${anyKind}`]],
    [
      "an entry that is no object",
      fileWith(7),
      [
        "contracts must be a list of 1 to 1000, each a JSON object; got 7",
        `contracts[0].kind is required: ${anyKind}`,
      ],
    ],
    [
      "an exchange without generation",
      fileWith(without(exchange, "generation")),
      ["contracts[0].generation is required: one of 1, 2, 3"],
    ],
    [
      "a generation that does not exist, and an address cut short",
      fileWith({ ...exchange, generation: 4, address: "0x12" }),
      [
        'contracts[0].address must be an address, 0x and 40 hex digits; got "0x12"',
        "contracts[0].generation must be one of 1, 2, 3; got 4",
      ],
    ],
    [
      "a field that only exchanges have",
      fileWith(exchange, { ...feeModule, generation: 1 }),
      ["contracts[1].generation is not known here; valid names: kind, address, start_block"],
    ],
    [
      "a block below 0",
      fileWith({ ...exchange, start_block: -1 }),
      ["contracts[0].start_block must be a whole number from 0 to 9007199254740991; got -1"],
    ],
    [
      "mistakes outside and inside of contracts",
      { ...polygonContracts, collateral: "x", more: 1, contracts: [{ ...exchange, exchange: "" }] },
      [
        'collateral must be an address, 0x and 40 hex digits; got "x"',
        "more is not known here; valid names: collateral, wrapped_collateral, known_creators, known_implementations, contracts",
        'contracts[0].exchange must be one of standard, neg_risk; got ""',
      ],
    ],
    [
      "an address twice, spelt in two ways",
      fileWith(exchange, { ...feeModule, address: exchange.address.toLowerCase() }),
      ["an address is listed twice"],
    ],
    ["no exchange", fileWith(feeModule), ["no contract of kind exchange is listed"]],
  ];
  for (const [name, input, expected] of cases) {
    test(name, () => assert.deepEqual(mistakesIn(input), expected));
  }

  test("at most ten mistakes", () => {
    const contracts = Array.from({ length: 30 }, () => ({ ...feeModule, address: "" }));
    const mistakes = mistakesIn({ ...polygonContracts, contracts } satisfies ContractsFile);
    assert.equal(mistakes.length, 10);
  });
});
