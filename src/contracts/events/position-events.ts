/**
 * The events from which the ledger of a wallet derives: token transfers, and the events that say why tokens moved.
 * Who received which token is in the transfers, so it is not decoded twice.
 */
import type { LogText } from "../../chain/parse/log-text.ts";
import { type Decoder, eventDecoder, outsideData } from "../decoder.ts";
import type { ChainEvent, PositionCause } from "../events.ts";
import {
  readAddress,
  readTokenId,
  readTokenIds,
  readUint,
  readUints,
  topicAddress,
  topicHashOrNull,
  topicTokenId,
  topicUint,
} from "../words.ts";

/** ERC-1155 transfers, of ConditionalTokens and of PositionManager. */
const transferDecoders: readonly Decoder[] = [
  eventDecoder("TransferSingle(address,address,address,uint256,uint256)", 3, (log) => ({
    kind: "tokens_transferred",
    ...getParties(log),
    tokens: [{ tokenId: readTokenId(log, 0), amount: readUint(log, 1) }],
  })),
  eventDecoder("TransferBatch(address,address,address,uint256[],uint256[])", 3, readBatch),
];

const moduleDecoders: readonly Decoder[] = [
  eventDecoder("PositionsSplit(address,bytes31,address,address,uint256)", 3, (log) =>
    changed("split", log, { cash: -readUint(log, 1) }),
  ),
  eventDecoder("PositionsMerged(address,bytes31,address,uint256)", 3, (log) =>
    changed("merge", log, { recipient: topicAddress(log, 3), cash: readUint(log, 0) }),
  ),
  eventDecoder("PositionRedeemed(address,uint256,address,uint256,uint256)", 3, (log) =>
    changed("redeem", log, { recipient: topicAddress(log, 3), cash: readUint(log, 1) }),
  ),
];

const migrationDecoder = eventDecoder(
  "PositionMigrated(address,bytes31,uint256,uint256,uint256)",
  3,
  (log) => ({
    kind: "position_migrated",
    account: topicAddress(log, 1),
    tokenId: topicTokenId(log, 3),
    amount: readUint(log, 1),
  }),
);

const settlementDecoder = eventDecoder(
  "LegacyCollateralSettled(address,address,uint256)",
  2,
  (log) => ({ kind: "collateral_settled", amount: readUint(log, 0) }),
);

/** The decoders of positions by the kind of their contract. */
export const positionDecoders: Readonly<Record<string, readonly Decoder[]>> = {
  conditional_tokens: [
    ...transferDecoders,
    basisDecoder("PositionSplit(address,address,bytes32,bytes32,uint256[],uint256)", "split"),
    basisDecoder("PositionsMerge(address,address,bytes32,bytes32,uint256[],uint256)", "merge"),
    eventDecoder(
      "PayoutRedemption(address,address,bytes32,bytes32,uint256[],uint256)",
      3,
      (log) => {
        const indexSets = readUints(log, 1);
        if (indexSets === null) return outsideData;
        const [collateral, parentCollectionId] = [topicAddress(log, 2), topicHashOrNull(log, 3)];
        const basis = { collateral, parentCollectionId, indexSets };
        return changed("redeem", log, { cash: readUint(log, 2), basis });
      },
    ),
  ],
  neg_risk_adapter: [
    eventDecoder("PositionSplit(address,bytes32,uint256)", 2, (log) =>
      changed("split", log, { cash: -readUint(log, 0) }),
    ),
    eventDecoder("PositionsMerge(address,bytes32,uint256)", 2, (log) =>
      changed("merge", log, { cash: readUint(log, 0) }),
    ),
    eventDecoder("PositionsConverted(address,bytes32,uint256,uint256)", 3, (log) =>
      changed("convert", log, { cash: getConversionCash(log) }),
    ),
    eventDecoder("PayoutRedemption(address,bytes32,uint256[],uint256)", 2, (log) =>
      changed("redeem", log, { cash: readUint(log, 1) }),
    ),
  ],
  position_manager: transferDecoders,
  binary_module: [...moduleDecoders, migrationDecoder, settlementDecoder],
  neg_risk_module: [
    ...moduleDecoders,
    migrationDecoder,
    settlementDecoder,
    eventDecoder("PositionConverted(address,bytes29,address,uint256,uint256)", 3, (log) =>
      changed("convert", log),
    ),
    eventDecoder("HorizontalSplit(address,bytes29,address,uint256)", 3, (log) =>
      changed("hsplit", log, { cash: -readUint(log, 0) }),
    ),
    eventDecoder("HorizontalMerge(address,bytes29,address,uint256)", 3, (log) =>
      changed("hmerge", log, { recipient: topicAddress(log, 3), cash: readUint(log, 0) }),
    ),
  ],
  combinatorial_module: [...moduleDecoders, ...comboDecoders()],
};

/**
 * Operations on combinations, in two forms: without the recipients until 2026-09-08, with them since. They turn
 * positions into others; only a compression can pay collateral.
 */
function comboDecoders(): readonly Decoder[] {
  const condition = "address,bytes31,bytes31,bytes31";
  const operations: readonly (readonly [PositionCause, string, string, number])[] = [
    ["convert", `SplitOnCondition(${condition},`, "address,address,", 2],
    ["convert", `MergedOnCondition(${condition},`, "address,", 2],
    ["convert", "SplitOnEvent(address,bytes31,bytes29,", "address[],", 3],
    ["convert", "MergedOnEvent(address,bytes31,bytes29,", "address,", 3],
    ["convert", `Extracted(${condition},`, "address,address,", 2],
    ["convert", `Injected(${condition},`, "address,", 2],
    ["convert", "ConvertedToYesBasket(address,bytes31,", "address[],", 2],
    ["convert", "MergedFromYesBasket(address,bytes31,", "address,", 2],
    ["wrap", "Wrapped(address,uint256,uint256,", "address,", 1],
    ["unwrap", "Unwrapped(address,uint256,uint256,", "address,", 1],
  ];
  const forms = operations.flatMap(([cause, head, recipients, indexed]) =>
    ["", recipients].map((form) =>
      eventDecoder(`${head}${form}uint256)`, indexed, (log) => changed(cause, log)),
    ),
  );
  const conversions = ["", "address[],"].map((form) =>
    eventDecoder(`ConvertedOnEvent(address,bytes31,bytes29,uint256,${form}uint256)`, 3, (log) =>
      changed("convert", log),
    ),
  );
  const compressions = ["", "address,"].map((form, words) =>
    eventDecoder(`Compressed(address,uint256,uint256,${form}uint256,uint256,uint256)`, 3, (log) =>
      changed("compress", log, {
        recipient: words === 0 ? null : readAddress(log, 0),
        cash: readUint(log, words + 2),
      }),
    ),
  );
  return [...forms, ...conversions, ...compressions];
}

/** A split or merge at ConditionalTokens. The collateral is in the data, the parent collection in the topics. */
function basisDecoder(signature: string, cause: "split" | "merge"): Decoder {
  return eventDecoder(signature, 3, (log) => {
    const indexSets = readUints(log, 1);
    if (indexSets === null) return outsideData;
    const [collateral, parentCollectionId] = [readAddress(log, 0), topicHashOrNull(log, 2)];
    const basis = { collateral, parentCollectionId, indexSets };
    const amount = readUint(log, 2);
    return changed(cause, log, { cash: cause === "split" ? -amount : amount, basis });
  });
}

/** A conversion pays the collateral of all but one of the No tokens, whose questions are the set bits. */
function getConversionCash(log: LogText): bigint {
  const questions = topicUint(log, 3).toString(2).replaceAll("0", "").length;
  return BigInt(Math.max(questions - 1, 0)) * readUint(log, 0);
}

type Changed = Extract<ChainEvent, { readonly kind: "positions_changed" }>;

function changed(
  cause: PositionCause,
  log: LogText,
  more: Partial<Pick<Changed, "recipient" | "cash" | "basis">> = {},
): Changed {
  const account = topicAddress(log, 1);
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

function getParties(log: LogText) {
  return { operator: topicAddress(log, 1), from: topicAddress(log, 2), to: topicAddress(log, 3) };
}

function readBatch(log: LogText): ChainEvent {
  const [ids, amounts] = [readTokenIds(log, 0), readUints(log, 1)];
  if (ids === null || amounts === null) return outsideData;
  if (ids.length !== amounts.length) {
    return { kind: "undecodable", reason: "a batch has not one amount for each token" };
  }
  const tokens = ids.map((tokenId, index) => ({ tokenId, amount: amounts[index] ?? 0n }));
  return { kind: "tokens_transferred", ...getParties(log), tokens };
}
