/**
 * The manifest of a lake: what the folder holds, and how each file is verified. It is written last and replaced as a
 * whole, so it never names a file that is not complete.
 */
import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { tryParseJson } from "../base/json.ts";
import { type FactsIdentity, hasWallets } from "../storage/directory/identity.ts";
import { LakeError } from "./lake-error.ts";

/** The version of the layout. A reader refuses a newer one. */
export const layoutVersion = 1;

export const manifestName = "manifest.json";

/** The largest manifest that is read, in bytes: thirty years of days with forty files each take half of it. */
export const manifestBytesMax = 256 * 1024 * 1024;

const toCount = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });
const toNullableSeq = (description: string) =>
  Type.Union([toCount("A position on the chain"), Type.Null()], { description });
/** Larger ones have positions that are no safe integers. */
const toBlockNumber = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 9_000_000_000, description });
const toSha256 = (description: string) => Type.String({ pattern: "^[0-9a-f]{64}$", description });
/** Only these paths are opened, so a manifest cannot lead out of its folder. */
const pathPattern =
  "^[a-z0-9_]{1,20}/(?:date=[0-9]{4}-[0-9]{2}-[0-9]{2}/part-[0-9]{1,6}|snapshot)\\.parquet$";

const file = Type.Object({
  path: Type.String({ pattern: pathPattern, description: "Below the folder of the manifest" }),
  rows: toCount("Rows of the file"),
  bytes: toCount("Size of the file"),
  sha256: toSha256("SHA-256 of the file"),
  first_seq: toNullableSeq("seq of the first row; null for tables that are not sorted by it"),
  last_seq: toNullableSeq("seq of the last row; null for tables that are not sorted by it"),
});

/** A part has about 131,000 facts, or one block. A file that says more is not a part, and could fill the disk. */
const part = Type.Object({
  ...file.properties,
  rows: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
  bytes: Type.Integer({ minimum: 1, maximum: 1024 ** 3 }),
});

const block = Type.Object(
  {
    number: toBlockNumber("Block number"),
    hash: Type.String({
      pattern: "^0x[0-9a-f]{64}$",
      description: "Block hash",
      examples: [`0x${"8d".repeat(32)}`],
    }),
    timestamp: Type.Integer({
      minimum: 0,
      maximum: 2 ** 32 - 1,
      description: "Time of the block in Unix seconds",
    }),
  },
  { description: "The last block" },
);

const slice = Type.Object({
  date: Type.String({ pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", description: "The day (UTC)" }),
  from_block: toBlockNumber("The first block; it follows the last one of the slice before"),
  last_block: block,
  files: Type.Record(Type.String({ pattern: "^[a-z0-9_]{1,20}$" }), part, {
    description: "The files by table; tables without rows have none",
  }),
});

const manifest = Type.Object({
  layout: Type.Integer({
    minimum: 1,
    maximum: layoutVersion,
    description: "Version of the layout; readers refuse newer ones",
  }),
  created_by: Type.String({ maxLength: 100, description: "The program and its version" }),
  chain_id: toCount("Id of the chain"),
  contracts: toSha256("SHA-256 of the list of contracts that were indexed"),
  events: Type.String({
    pattern: "^[0-9a-f]{64}(-wallets)?$",
    description: "SHA-256 of the events that are decoded, and whether wallets are indexed",
  }),
  first_block: toBlockNumber("The first block"),
  last_block: block,
  slices: Type.Array(slice, {
    minItems: 1,
    description: "Consecutive blocks of one day, in order, without a gap",
  }),
  repairs: Type.Optional(
    Type.Array(Type.String({ maxLength: 36 }), {
      description: "Ids of the repairs of the store that the files have; none if absent",
      examples: [["67b1f2a4-1c53-4b6e-9d0e-5a7c3f2b8e10"]],
    }),
  ),
  markets: Type.Union([file, Type.Null()], {
    description: "All markets when the lake was written; null until they are written",
  }),
});

const signature = Type.Object(
  {
    algorithm: Type.Literal("ed25519", { description: "Ed25519 (RFC 8032)" }),
    public_key: Type.String({
      description: "The public key, in PEM",
      examples: ["-----BEGIN PUBLIC KEY-----\n...\n-----END PUBLIC KEY-----\n"],
    }),
    value: Type.String({
      description: "The signature of the rest of the manifest, in Base64",
      examples: ["qmWpFkvB1gLBnQtc...=="],
    }),
  },
  { description: "Absent without a key to sign with" },
);

/** The manifest as it is written, for the documentation of the API. */
export const signedManifestSchema = Type.Object({
  ...manifest.properties,
  signature: Type.Optional(signature),
});

export type LakeFile = Static<typeof file>;
export type LakeSlice = Static<typeof slice>;
export type Manifest = Static<typeof manifest>;

/** Whether a path can be that of a file of a lake. */
export function isLakePath(text: string): boolean {
  return new RegExp(pathPattern).test(text);
}

/** Formats a manifest, signed if there is a private key (Ed25519). */
export function formatManifest(contents: Manifest, signKey: KeyObject | string | null): string {
  const text = JSON.stringify(contents);
  if (signKey === null) return `${text}\n`;
  const signed = {
    algorithm: "ed25519",
    public_key: createPublicKey(signKey).export({ type: "spki", format: "pem" }),
    value: sign(null, Buffer.from(text), signKey).toString("base64"),
  };
  return `${JSON.stringify({ ...contents, signature: signed })}\n`;
}

/**
 * Parses a manifest. A signature is verified; with `publicKey` there must be one of this key. Throws `LakeError` when it
 * is damaged, of a newer layout, not contiguous or not signed as required.
 */
export function parseManifest(text: string, publicKey: KeyObject | null = null): Manifest {
  const value = tryParseJson(text);
  const { signature: signed, ...contents } = Object(value) as Record<string, unknown>;
  const { layout } = contents;
  if (typeof layout === "number" && layout > layoutVersion) {
    throw new LakeError(
      `the lake has layout ${layout}, and this version reads layouts up to ${layoutVersion}: upgrade Oddwire`,
    );
  }
  if (!Value.Check(manifest, contents)) {
    throw new LakeError(`${manifestName} is not a manifest of a lake, or it is damaged`);
  }
  verifySignature(contents, { signed, publicKey });
  refuseGaps(contents);
  return contents;
}

/** Throws `LakeError` when the facts of a lake are not those that this configuration indexes. */
export function refuseOtherLake(manifest: Manifest, expected: FactsIdentity): void {
  if (manifest.chain_id !== expected.chain_id) {
    throw new LakeError(
      `the lake is of chain ${manifest.chain_id}, and ODDWIRE_CHAIN_ID is ${expected.chain_id}`,
    );
  }
  if (manifest.contracts !== expected.contracts) {
    throw new LakeError(
      "the lake was indexed with another list of contracts: set the ODDWIRE_CONTRACTS_FILE that it was made with",
    );
  }
  const [theirs, wallets] = [manifest, expected].map((one) => (hasWallets(one) ? "on" : "off"));
  if (theirs !== wallets) {
    throw new LakeError(
      `the lake was made with ODDWIRE_WALLETS=${theirs}, and it is ${wallets} here: set the same`,
    );
  }
  if (manifest.events !== expected.events) {
    throw new LakeError(
      "the lake was made by a version that decodes other events: use that version",
    );
  }
}

function verifySignature(
  contents: Manifest,
  { signed, publicKey }: { readonly signed: unknown; readonly publicKey: KeyObject | null },
): void {
  if (signed === undefined) {
    if (publicKey !== null)
      throw new LakeError(`${manifestName} is not signed, and --verify-key requires it`);
    return;
  }
  if (!Value.Check(signature, signed))
    throw new LakeError(`the signature of ${manifestName} is malformed`);
  const isValid = (): boolean => {
    try {
      const key = publicKey ?? createPublicKey(signed.public_key);
      return verify(
        null,
        Buffer.from(JSON.stringify(contents)),
        key,
        Buffer.from(signed.value, "base64"),
      );
    } catch {
      return false;
    }
  };
  if (!isValid()) {
    const whose = publicKey === null ? "its own key" : "the key of --verify-key";
    throw new LakeError(
      `the signature of ${manifestName} is not valid for ${whose}: the manifest was changed`,
    );
  }
}

/** Slices must follow each other, in blocks and in days. */
function refuseGaps({ slices, first_block: first, last_block: last }: Manifest): void {
  let next = first;
  let day = "";
  for (const one of slices) {
    const { date, last_block: end } = one;
    if (date < day || new Date(end.timestamp * 1000).toISOString().slice(0, 10) !== date) {
      throw new LakeError(`the days of the lake are not in order at block ${end.number} (${date})`);
    }
    day = date;
    if (one.from_block !== next || one.last_block.number < one.from_block) {
      throw new LakeError(`the lake has a gap or an overlap at block ${next} (${one.date})`);
    }
    next = one.last_block.number + 1;
  }
  if (slices.at(-1)?.last_block.hash !== last.hash || last.number !== next - 1) {
    throw new LakeError(`${manifestName} names another last block than its last slice`);
  }
}
