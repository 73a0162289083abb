/** Random logs of any event, encoded by viem from its declaration. */
import * as fc from "fast-check";
import { type AbiEvent, type AbiParameter, encodeAbiParameters, encodeEventTopics } from "viem";
import type { Address, Hash } from "../../src/base/ids.ts";
import type { RawLog } from "../../src/chain/raw-log.ts";

const uintMax = (1n << 256n) - 1n;

/** Any uint256; values that often break code are more likely. */
export const anyUint = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, 3n, 256n, 257n, 2n ** 52n, 2n ** 53n - 1n, 2n ** 53n + 1n, uintMax),
  fc.bigInt({ min: 0n, max: 2n ** 53n }),
  fc.bigInt({ min: 0n, max: 2n ** 128n }),
  fc.bigInt({ min: 0n, max: uintMax }),
);

/** A log of `contract` with random arguments at a fixed position on the chain. */
export function anyLog(item: AbiEvent, contract: Address): fc.Arbitrary<RawLog> {
  const inputs = item.inputs.map((input) => ({ ...input, name: input.name ?? "" }));
  const args = fc.record(Object.fromEntries(inputs.map((input) => [input.name, anyValue(input)])));
  return args.map((values) => {
    const plain = inputs.filter((input) => input.indexed !== true);
    const topics = encodeEventTopics({ abi: [item], args: values } as never);
    const data = encodeAbiParameters(
      plain,
      plain.map((input) => values[input.name]),
    );
    return logAt(contract, { topics: topics as string[] as Hash[], data });
  });
}

/** A log of `contract` at an arbitrary position on the chain. */
export function logAt(
  contract: Address,
  content: { readonly topics: readonly Hash[]; readonly data: string },
): RawLog {
  return { ...content, address: contract, ...somePlace };
}

const somePlace = {
  blockNumber: 7,
  blockHash: `0x${"b1".repeat(32)}` as Hash,
  txHash: `0x${"a1".repeat(32)}` as Hash,
  txIndex: 0,
  logIndex: 3,
} as const;

/** Two numbers with the sum that results of generation 3 must have. */
const anySplitMillion = fc
  .bigInt({ min: 0n, max: 1_000_000n })
  .map((part) => [part, 1_000_000n - part]);

function anyValue({ name = "", type }: AbiParameter): fc.Arbitrary<unknown> {
  // Random ids would rarely be 0, but a V1 order has exactly one collateral side, whose id is 0.
  if (name === "makerAssetId" || name === "takerAssetId") return fc.oneof(fc.constant(0n), anyUint);
  switch (type) {
    case "address":
      return anyHex(20);
    case "bytes32":
      return fc.oneof(fc.constant(`0x${"00".repeat(32)}`), anyHex(32));
    case "bytes29":
      return anyHex(29);
    case "bytes31":
      return anyHex(31);
    case "bytes":
      return fc.uint8Array({ maxLength: 100 }).map(toHex);
    case "bool":
      return fc.boolean();
    case "uint8":
      return fc.oneof(fc.constantFrom(0, 1), fc.nat(255));
    case "uint16":
    case "uint32":
      return fc.nat(65_535);
    case "uint64":
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    case "int192":
      return fc.bigInt({ min: -(2n ** 191n), max: 2n ** 191n - 1n });
    case "int256":
      return anyUint.map((value) => BigInt.asIntN(256, value));
    case "uint256":
      return anyUint;
    case "address[]":
      return fc.array(anyHex(20), { maxLength: 4 });
    case "uint256[]":
      return fc.oneof(fc.array(anyUint, { maxLength: 4 }), anySplitMillion);
    default:
      throw new Error(`no generator for ${type}`);
  }
}

function anyHex(bytes: number): fc.Arbitrary<string> {
  return fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(toHex);
}

function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}
