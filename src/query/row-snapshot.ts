import { assert } from "../base/assert.ts";
import type { Seq } from "../base/ids.ts";
import type { FillTable } from "../storage/codec/fill-layout.ts";
import { firstSeqAbove } from "../storage/covered-facts.ts";
import type { Engine } from "../storage/engine/engine.ts";
import { integerLiteral } from "../storage/sql-literal.ts";
import type { HeadBuffer } from "../views/head/head-buffer.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { Condition } from "./condition.ts";

/** The start and direction of a list, and whether it includes unfinalized rows. */
export type ListOrder = {
  readonly order: "asc" | "desc";
  /** The last position of the previous page: only rows after it, in the order of the list. */
  readonly after: Seq | null;
  /** The last `sub` of the previous page, in lists that are also ordered by it. */
  readonly afterSub?: number | undefined;
  readonly finalizedOnly: boolean;
};

/** A row of a list. Rows of a ledger can share a position, and are then in the order of `sub`. */
type Positioned = { readonly seq: Seq; readonly sub?: number };

/** The rows of a list, and the condition that they fulfill. */
export type StoredList<Item extends Positioned> = ListOrder &
  Condition<Item> & {
    readonly query: "trades" | "events" | "activity";
    readonly table: FillTable | "events" | "ledger";
    /** Whether rows are also ordered by `sub`. */
    readonly hasSub?: boolean;
    /** Reads rows of the table. `clauses` follow `FROM <table>`. */
    readonly read: (engine: Engine, clauses: string) => Promise<readonly Item[]>;
    readonly settings: string;
    /** The condition for each token separately, when the table is ordered by token and there are few tokens. */
    readonly byToken?: readonly string[];
    /** Returns the part of the list that probably contains the first `limit` rows, to be read first; `null` for all. */
    readonly getFirstPart?: (facts: IndexedFacts, limit: number) => MaybeListPart<Item>;
    readonly unfinalizedIn: (headBuffer: HeadBuffer) => readonly Item[];
    /** Encodes rows of the table as an Arrow stream, for lists that the engine can encode. */
    readonly encode?: EncodeRows;
  };

/** Encodes the rows of `<table> WHERE <condition>` in the order of the list. `columns` are fields of the public row. */
type EncodeRows = (engine: Engine, from: string, columns: readonly string[]) => Promise<Uint8Array>;

/** Rows as an Arrow stream, and how many they are. */
export type EncodedRows = { readonly length: number; readonly stream: Uint8Array };

type RowTable<Item extends Positioned> = Pick<StoredList<Item>, "table" | "read" | "settings">;

/**
 * A part of a list that has its first rows: up to the position `bound`, or all of it when `bound` is `null`. It can be
 * read from another table.
 */
export type ListPart<Item extends Positioned> = {
  readonly sql: string;
  readonly bound: Seq | null;
  readonly rows?: RowTable<Item>;
  /** Reads where the next part is. Without it the rest of the list is read. */
  readonly readNext?: () => Promise<ListPart<Item>>;
};

type MaybeListPart<Item extends Positioned> = ListPart<Item> | null | Promise<ListPart<Item>>;

/** How many rows to read, and how many of them together. */
type ChunkSize = { readonly chunkRows: number; readonly rowsMax: number };

/** Final rows, and the position after which more can follow. */
type FinalChunk<Chunk> = { readonly chunk: Chunk; readonly next: Positioned | undefined };

/** The final rows to read: after a position, in the order of the list, and below another, at most `limit`. */
type FinalPosition = Pick<ListOrder, "after" | "afterSub">;
type FinalPage = FinalPosition & { readonly boundary: Seq; readonly limit: number };

type PartOfList = Partial<FinalPage & { readonly sql: string }>;

/**
 * All rows of a list as of now, from the store and from the head buffer. The boundary between final and unfinalized rows
 * is fixed once: a block that becomes final meanwhile is neither lost nor returned twice. Final rows never change, and
 * the few unfinalized ones are copied. Every read is one query of bounded size.
 */
export class RowSnapshot<Item extends Positioned> {
  readonly #facts: IndexedFacts;
  readonly #list: StoredList<Item>;
  /** Rows below this position are final. */
  readonly #boundary: Seq;
  /** In the order of the list. */
  readonly #unfinalized: readonly Item[];

  constructor(facts: IndexedFacts, list: StoredList<Item>) {
    this.#facts = facts;
    this.#list = list;
    this.#boundary = firstSeqAbove(facts.coverage);
    this.#unfinalized = list.finalizedOnly ? [] : unfinalizedRows(facts.headBuffer, list);
  }

  /** Reads the first `limit` rows. */
  async first(limit: number): Promise<readonly Item[]> {
    const { order, query, getFirstPart } = this.#list;
    const unfinalized = this.#unfinalized.slice(0, limit);
    if (order === "desc" && unfinalized.length === limit) {
      this.#facts.reads.add(query, "head");
      return unfinalized;
    }
    const firstPart = (await getFirstPart?.(this.#facts, limit)) ?? null;
    if (order === "asc") {
      return [...(await this.#readFinal(this.#list, limit, firstPart)), ...unfinalized].slice(
        0,
        limit,
      );
    }
    return [
      ...unfinalized,
      ...(await this.#readFinal(this.#list, limit - unfinalized.length, firstPart)),
    ];
  }

  /** Counts the rows, up to `rowsMax`. `edge` is the position of the last of them if more follow, otherwise `null`. */
  async end(
    rowsMax: number,
  ): Promise<{ readonly count: number; readonly edge: Positioned | null }> {
    const unfinalized = this.#unfinalized;
    const finalCount = await this.#countFinal(rowsMax + 1);
    const found = finalCount + unfinalized.length;
    if (found <= rowsMax) return { count: found, edge: null };
    const isRising = this.#list.order === "asc";
    const [finalFrom, unfinalizedFrom] = isRising ? [0, finalCount] : [unfinalized.length, 0];
    const last = rowsMax - 1;
    const edge = unfinalized[last - unfinalizedFrom] ?? this.#finalPositionAt(last - finalFrom);
    return { count: rowsMax, edge: await edge };
  }

  /** Reads the first `rowsMax` rows in order, `chunkRows` at a time. */
  chunks(size: ChunkSize): AsyncGenerator<readonly Item[], void, undefined> {
    return this.#inOrder(size, async (position, remaining) => {
      const limit = Math.min(size.chunkRows, remaining);
      const chunk = await this.#readFinal(position, limit);
      return { chunk, next: chunk.length < limit ? undefined : chunk.at(-1) };
    });
  }

  /** As `chunks`, but encodes the final rows, `groupRows` at a time. */
  encodedChunks(
    size: ChunkSize & { readonly groupRows: number },
    encode: (from: string) => Promise<Uint8Array>,
  ): AsyncGenerator<readonly Item[] | EncodedRows, void, undefined> {
    return this.#inOrder(size, (position, remaining) =>
      this.#encodeFinal(position, Math.min(size.groupRows, remaining), encode),
    );
  }

  /** Yields final rows, which `readFinal` reads after a position, and the unfinalized rows before or after them. */
  async *#inOrder<Chunk extends { readonly length: number }>(
    { chunkRows, rowsMax }: ChunkSize,
    readFinal: (position: FinalPosition, remaining: number) => Promise<FinalChunk<Chunk>>,
  ): AsyncGenerator<Chunk | readonly Item[], void, undefined> {
    const isRising = this.#list.order === "asc";
    const unfinalized = this.#unfinalized.slice(0, rowsMax);
    if (!isRising) yield* toChunks(unfinalized, chunkRows);
    let remaining = rowsMax - (isRising ? 0 : unfinalized.length);
    for (let position: FinalPosition | undefined = this.#list; position && remaining > 0; ) {
      const { chunk, next }: FinalChunk<Chunk> = await readFinal(position, remaining);
      if (chunk.length > 0) yield chunk;
      remaining -= chunk.length;
      position = next && { after: next.seq, afterSub: next.sub };
    }
    if (isRising) yield* toChunks(unfinalized.slice(0, remaining), chunkRows);
  }

  async #encodeFinal(
    { after }: FinalPosition,
    limit: number,
    encode: (from: string) => Promise<Uint8Array>,
  ): Promise<FinalChunk<EncodedRows>> {
    const { byToken, sql, table, order, query, settings } = this.#list;
    this.#facts.reads.add(query, "engine");
    const end = this.#limitSql(limit);
    const parts = (byToken ?? [sql]).map(
      (part) => `(SELECT seq FROM ${table} ${this.#whereSql({ after, sql: part })} ${end})`,
    );
    const [[length, first, last] = []] = await this.#facts.engine.query(
      `SELECT count(), min(seq), max(seq) FROM (
         SELECT seq FROM (${parts.join(" UNION ALL ")}) ${end}) SETTINGS ${settings}`,
    );
    if (length === 0) return { chunk: { length, stream: new Uint8Array() }, next: undefined };
    const bounds = [first, last].map((seq) => integerLiteral(Number(seq)));
    const where = this.#whereSql({ after: null });
    const stream = await encode(`${table} ${where} AND seq BETWEEN ${bounds.join(" AND ")}`);
    const next = { seq: Number(order === "asc" ? last : first) as Seq };
    return { chunk: { length: Number(length), stream }, next };
  }

  async #readFinal(
    { after, afterSub }: FinalPosition,
    limit: number,
    firstPart: ListPart<Item> | null = null,
  ): Promise<readonly Item[]> {
    const { order, query } = this.#list;
    if (order === "desc" && after === 0 && afterSub === undefined) return [];
    this.#facts.reads.add(query, "engine");
    const page = { after, afterSub, boundary: this.#boundary, limit };
    const rows: Item[] = [];
    let remaining = page;
    for (let part = firstPart; part !== null; part = (await part.readNext?.()) ?? null) {
      rows.push(...(await this.#readPart(part.sql, remaining, part.rows)));
      if (rows.length === limit || part.bound === null) return rows;
      const next =
        order === "asc"
          ? { after: Math.max(after ?? 0, part.bound - 1) as Seq }
          : { boundary: Math.min(this.#boundary, part.bound) as Seq };
      remaining = { ...page, ...next, limit: limit - rows.length };
    }
    return [...rows, ...(await this.#readByToken(remaining))];
  }

  /** Reads each token separately, if few: for one token the engine stops at the limit, for several it sorts all rows. */
  async #readByToken(page: FinalPage): Promise<readonly Item[]> {
    const { byToken, sql, order } = this.#list;
    const parts = (byToken ?? [sql]).map((condition) => this.#readPart(condition, page));
    const rows = await Promise.all(parts);
    const sign = order === "asc" ? 1 : -1;
    return rows
      .flat()
      .toSorted((a, b) => sign * (a.seq - b.seq))
      .slice(0, page.limit);
  }

  async #readPart(
    sql: string,
    page: FinalPage,
    { read, settings, table }: RowTable<Item> = this.#list,
  ): Promise<readonly Item[]> {
    const clauses = `${this.#whereSql({ ...page, sql }, table)} ${this.#limitSql(page.limit)}`;
    return read(this.#facts.engine, `${clauses} SETTINGS ${settings}`);
  }

  async #countFinal(max: number): Promise<number> {
    const rows = await this.#facts.engine.query(
      `SELECT count() FROM (
         SELECT 1 FROM ${this.#list.table} WHERE ${this.#finalSql()} LIMIT ${integerLiteral(max)})`,
    );
    return Number(rows[0]?.[0]);
  }

  /** Reads the position of the final row at an index, counted from 0, which must exist. */
  async #finalPositionAt(index: number): Promise<Positioned> {
    const { table, hasSub = false } = this.#list;
    const [row] = await this.#facts.engine.query(
      `SELECT seq${hasSub ? ", sub" : ""} FROM ${table} WHERE ${this.#finalSql()}
       ${this.#orderSql()} LIMIT 1 OFFSET ${integerLiteral(index)}`,
    );
    assert(row !== undefined, "the row is one of those that were counted");
    const [seq, sub] = row;
    return { seq: Number(seq) as Seq, ...(hasSub && { sub: Number(sub) }) };
  }

  #limitSql(limit: number): string {
    return `${this.#orderSql()} LIMIT ${integerLiteral(limit)}`;
  }

  #orderSql(): string {
    const { order, hasSub = false } = this.#list;
    return `ORDER BY seq ${order}${hasSub ? `, sub ${order}` : ""}`;
  }

  #whereSql(part: PartOfList, table = this.#list.table): string {
    // With `WHERE`, the engine reads other columns before it knows the matching rows: a page by token takes twice as long.
    const keyword = table === "fills_by_token" ? "PREWHERE" : "WHERE";
    return `${keyword} ${this.#finalSql(part)}`;
  }

  /** Returns the condition of the final rows of the list, or of a part of it. */
  #finalSql(part: PartOfList = {}): string {
    const page = { ...this.#list, boundary: this.#boundary, ...part };
    const after = afterSql(page, this.#list.order === "asc" ? ">" : "<");
    return `${page.sql} AND seq < ${integerLiteral(page.boundary)} ${after}`;
  }
}

function* toChunks<Item>(rows: readonly Item[], chunkRows: number): Generator<readonly Item[]> {
  for (let at = 0; at < rows.length; at += chunkRows) yield rows.slice(at, at + chunkRows);
}

function afterSql({ after, afterSub }: FinalPosition, sign: ">" | "<"): string {
  if (after === null) return "";
  const seq = integerLiteral(after);
  if (afterSub === undefined) return `AND seq ${sign} ${seq}`;
  // The first condition is the one that the primary key answers.
  return `AND seq ${sign}= ${seq} AND (seq != ${seq} OR sub ${sign} ${integerLiteral(afterSub)})`;
}

function unfinalizedRows<Item extends Positioned>(
  headBuffer: HeadBuffer,
  { order, after, afterSub, unfinalizedIn, holds }: StoredList<Item>,
): readonly Item[] {
  const sign = order === "asc" ? 1 : -1;
  const isAfter = ({ seq, sub = 0 }: Item): boolean =>
    after === null || (seq - after || sub - (afterSub ?? sub)) * sign > 0;
  const rows = unfinalizedIn(headBuffer).filter((item) => isAfter(item) && holds(item));
  return order === "asc" ? rows : rows.toReversed();
}
