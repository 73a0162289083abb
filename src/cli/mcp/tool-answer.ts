/** Answers of tools: what the service sent, why it is empty, and up to where it is complete and final. */
import {
  type Connection,
  hasRows,
  isObject,
  type Query,
} from "../../../clients/typescript/src/connection.ts";
import { OddwireError } from "../../../clients/typescript/src/oddwire-error.ts";
import { type Seq, toBlockNumber } from "../../base/ids.ts";

/** What a tool returns: the answer, and where it is from. */
export type ToolAnswer = { readonly [field: string]: unknown };

type Meta = {
  readonly first_block: number | null;
  readonly indexed_block: number | null;
  readonly indexed_seq: number | null;
  readonly finalized_block: number | null;
  readonly lag_seconds: number | null;
  readonly truncated_at_start?: boolean;
};
/** What the service answers. */
export type Answer<Data> = {
  readonly data: Data;
  readonly meta: Meta;
  readonly pagination?: { readonly next_cursor: string | null };
};

/** From how many seconds on an answer says that the service is behind: more than it takes to index a block. */
const lagMaxSeconds = 60;

/** Asks for one thing. Throws `NOT_OURS` when the answer has none. */
export async function ask<Data>(
  connection: Connection,
  path: string,
  query: Query = {},
): Promise<Answer<Data>> {
  return connection.json<Answer<Data>>(
    path,
    { query },
    ({ data, meta }) => isObject(data) && isObject(meta),
  );
}

/** Asks for a list. Throws `NOT_OURS` when the answer has no rows. */
export async function askRows<Row>(
  connection: Connection,
  path: string,
  query: Query,
): Promise<Answer<readonly Row[]>> {
  return connection.json(path, { query }, (answer) => hasRows(answer) && isObject(answer["meta"]));
}

/** Asks for something that may not exist. */
export async function find<Data>(
  connection: Connection,
  path: string,
  query: Query = {},
): Promise<Answer<Data> | OddwireError> {
  try {
    return await ask<Data>(connection, path, query);
  } catch (thrown) {
    if (thrown instanceof OddwireError && thrown.code === "NOT_FOUND") return thrown;
    throw thrown;
  }
}

/** Returns up to where an answer is complete and cannot be reverted, and why it has less than one could expect. */
export function provenance(
  { meta }: Answer<unknown>,
  ...reasons: readonly (string | null)[]
): ToolAnswer {
  const notes = [...reasons, describeLag(meta), describeStart(meta)].filter((one) => one !== null);
  return {
    ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
    provenance: {
      complete_from_block: meta.first_block,
      complete_to_block: meta.indexed_block,
      complete_to_seq: meta.indexed_seq,
      final_to_block: meta.finalized_block,
      seconds_behind_chain: meta.lag_seconds,
    },
  };
}

function describeLag({ indexed_block, lag_seconds: seconds }: Meta): string | null {
  if (indexed_block === null) return "Nothing is indexed yet.";
  if (seconds === null) return "How far the service is behind the chain is unknown.";
  if (seconds <= lagMaxSeconds) return null;
  return `The service is ${seconds} s behind the chain: what happened since is missing.`;
}

function describeStart({ truncated_at_start, first_block }: Meta): string | null {
  if (truncated_at_start !== true) return null;
  return `The requested time starts before block ${first_block}, the first one indexed: what happened earlier is missing.`;
}

/** Returns whether what is at a position can no longer be reverted. */
export function isFinal(seq: number, { finalized_block }: Meta): boolean {
  return finalized_block !== null && toBlockNumber(seq as Seq) <= finalized_block;
}

/** Returns some fields of a row; an older service may lack one. */
export function pick<Row extends object>(
  row: Row,
  fields: readonly (keyof Row & string)[],
): object {
  return Object.fromEntries(fields.flatMap((name) => (name in row ? [[name, row[name]]] : [])));
}

/** Returns an id as a segment of a path. */
export function segment(id: string): string {
  return encodeURIComponent(id.toWellFormed());
}
