/** The declarations of the events from which ledgers derive, and the event that viem's decoding must give. */

import { toTokenId } from "../../src/base/ids.ts";
import type { PositionsChanged } from "../../src/contracts/events.ts";
import type { EventAbi, EventArgs } from "./event-abis.ts";

type Declared = readonly (readonly [declaration: string, expected: EventAbi["expected"]])[];

const parties = "address indexed operator, address indexed from, address indexed to";
const transfers: Declared = [
  [
    `TransferSingle(${parties}, uint256 id, uint256 value)`,
    (args) => ({
      kind: "tokens_transferred",
      ...getParties(args),
      tokens: [{ tokenId: args.token("id"), amount: args.uint("value") }],
    }),
  ],
  [
    `TransferBatch(${parties}, uint256[] ids, uint256[] values)`,
    (args) => {
      const amounts = args.uints("values");
      if (amounts.length !== args.uints("ids").length) return { kind: "undecodable", reason: "" };
      const tokens = args
        .uints("ids")
        .map((id, index) => ({ tokenId: toTokenId(id), amount: amounts[index] ?? 0n }));
      return { kind: "tokens_transferred", ...getParties(args), tokens };
    },
  ],
];

const atConditionalTokens = (name: string, cause: "split" | "merge") =>
  [
    `${name}(address indexed account, address collateral, bytes32 indexed parent,
      bytes32 indexed conditionId, uint256[] sets, uint256 amount)`,
    (args: EventArgs) => changed(args, cause, { cash: signed(cause, args), basis: getBasis(args) }),
  ] as const;

const atAdapter = (name: string, cause: "split" | "merge") =>
  [
    `${name}(address indexed account, bytes32 indexed conditionId, uint256 amount)`,
    (args: EventArgs) => changed(args, cause, { cash: signed(cause, args) }),
  ] as const;

const modules: Declared = [
  [
    `PositionsSplit(address indexed account, bytes31 indexed conditionId,
      address indexed recipient0, address recipient1, uint256 amount)`,
    (args) => changed(args, "split", { cash: -args.uint("amount") }),
  ],
  [
    `PositionsMerged(address indexed account, bytes31 indexed conditionId,
      address indexed recipient, uint256 amount)`,
    (args) =>
      changed(args, "merge", { recipient: args.address("recipient"), cash: args.uint("amount") }),
  ],
  [
    `PositionRedeemed(address indexed account, uint256 indexed positionId,
      address indexed recipient, uint256 amount, uint256 payout)`,
    (args) =>
      changed(args, "redeem", { recipient: args.address("recipient"), cash: args.uint("payout") }),
  ],
];

const migrations: Declared = [
  [
    `PositionMigrated(address indexed account, bytes31 indexed conditionId,
      uint256 indexed positionId, uint256 outcomeIndex, uint256 amount)`,
    (args) => ({
      kind: "position_migrated",
      account: args.address("account"),
      tokenId: args.token("positionId"),
      amount: args.uint("amount"),
    }),
  ],
  [
    "LegacyCollateralSettled(address indexed legacyToken, address indexed vault, uint256 amount)",
    (args) => ({ kind: "collateral_settled", amount: args.uint("amount") }),
  ],
];

const user = "address indexed account";
const three = `${user}, bytes31 indexed parent, bytes31 left, bytes31 right`;
const onEvent = `${user}, bytes31 indexed parent, bytes29 indexed eventId`;
const combos: Declared = [
  ...bothForms(`SplitOnCondition(${three}`, "address r0, address r1", "convert"),
  ...bothForms(`MergedOnCondition(${three}`, "address r0", "convert"),
  ...bothForms(`SplitOnEvent(${onEvent}`, "address[] r", "convert"),
  ...bothForms(`MergedOnEvent(${onEvent}`, "address r", "convert"),
  ...bothForms(`ConvertedOnEvent(${onEvent}, uint256 index`, "address[] r", "convert"),
  ...bothForms(
    `Extracted(${user}, bytes31 indexed full, bytes31 a, bytes31 b`,
    "address r0, address r1",
    "convert",
  ),
  ...bothForms(
    `Injected(${user}, bytes31 indexed full, bytes31 a, bytes31 b`,
    "address r",
    "convert",
  ),
  ...bothForms(`ConvertedToYesBasket(${user}, bytes31 indexed full`, "address[] r", "convert"),
  ...bothForms(`MergedFromYesBasket(${user}, bytes31 indexed full`, "address r", "convert"),
  ...bothForms(`Wrapped(${user}, uint256 old, uint256 made`, "address r", "wrap"),
  ...bothForms(`Unwrapped(${user}, uint256 old, uint256 made`, "address r", "unwrap"),
  ...["address recipient, ", ""].map(
    (recipient) =>
      [
        `Compressed(${user}, uint256 indexed old, uint256 indexed made, ${recipient}uint256 amount,
          uint256 madeAmount, uint256 payout)`,
        (args: EventArgs) =>
          changed(args, "compress", {
            recipient: recipient === "" ? null : args.address("recipient"),
            cash: args.uint("payout"),
          }),
      ] as const,
  ),
];

/** By kind of contract. */
export const positionAbis = {
  conditional_tokens: [
    ...transfers,
    atConditionalTokens("PositionSplit", "split"),
    atConditionalTokens("PositionsMerge", "merge"),
    [
      `PayoutRedemption(address indexed account, address indexed collateral,
        bytes32 indexed parent, bytes32 conditionId, uint256[] sets, uint256 payout)`,
      (args) => changed(args, "redeem", { cash: args.uint("payout"), basis: getBasis(args) }),
    ],
  ],
  neg_risk_adapter: [
    atAdapter("PositionSplit", "split"),
    atAdapter("PositionsMerge", "merge"),
    [
      `PositionsConverted(address indexed account, bytes32 indexed marketId,
        uint256 indexed indexSet, uint256 amount)`,
      (args) => {
        const bits = args.uint("indexSet").toString(2).split("1").length - 1;
        return changed(args, "convert", {
          cash: BigInt(Math.max(bits - 1, 0)) * args.uint("amount"),
        });
      },
    ],
    [
      `PayoutRedemption(address indexed account, bytes32 indexed conditionId, uint256[] amounts,
        uint256 payout)`,
      (args) => changed(args, "redeem", { cash: args.uint("payout") }),
    ],
  ],
  position_manager: transfers,
  binary_module: [...modules, ...migrations],
  neg_risk_module: [
    ...modules,
    ...migrations,
    [
      `PositionConverted(address indexed account, bytes29 indexed eventId,
        address indexed recipient, uint256 conditionIndex, uint256 amount)`,
      (args) => changed(args, "convert"),
    ],
    [
      `HorizontalSplit(address indexed account, bytes29 indexed eventId,
        address indexed recipient, uint256 amount)`,
      (args) => changed(args, "hsplit", { cash: -args.uint("amount") }),
    ],
    [
      `HorizontalMerge(address indexed account, bytes29 indexed eventId,
        address indexed recipient, uint256 amount)`,
      (args) =>
        changed(args, "hmerge", {
          recipient: args.address("recipient"),
          cash: args.uint("amount"),
        }),
    ],
  ],
  combinatorial_module: [...modules, ...combos],
} as const satisfies Readonly<Record<string, Declared>>;

/** An operation on combinations: the form with recipients, and the earlier one without. */
function bothForms(head: string, recipients: string, cause: PositionsChanged["cause"]): Declared {
  return ["", `, ${recipients}`].map((form) => [
    `${head}${form}, uint256 amount)`,
    (args: EventArgs) => changed(args, cause),
  ]);
}

function changed(
  args: EventArgs,
  cause: PositionsChanged["cause"],
  more: Partial<PositionsChanged> = {},
): PositionsChanged {
  const account = args.address("account");
  return {
    kind: "positions_changed",
    cause,
    account,
    recipient: null,
    cash: 0n,
    basis: null,
    ...more,
  };
}

function signed(cause: "split" | "merge", args: EventArgs): bigint {
  return cause === "split" ? -args.uint("amount") : args.uint("amount");
}

function getBasis(args: EventArgs): PositionsChanged["basis"] {
  return {
    collateral: args.address("collateral"),
    parentCollectionId: args.hashOrNull("parent"),
    indexSets: args.uints("sets"),
  };
}

function getParties(args: EventArgs) {
  return {
    operator: args.address("operator"),
    from: args.address("from"),
    to: args.address("to"),
  };
}
