/**
 * The rows of one token out of the parts of a table, found as the engine would find them: in each part that may
 * have some, the granules between two keys. A part is a stretch of the chain, and no more of them are read
 * than it takes.
 */
import { meets, type Span, type Times } from "../part-map.ts";
import { granulesOf, integerAt, type KeyRange, tokenBytes } from "./granule-map.ts";
import { GranuleReader } from "./granule-reader.ts";
import type { PartColumn, PartLayout } from "./part-layouts.ts";
import type { OpenPart, PartShelf } from "./part-shelf.ts";

/** Which rows of a token, and how many of them at the most. */
export type RowChoice = KeyRange & {
  /** Unix seconds; of tables whose rows have a time and a role. */
  readonly times: Times;
  /** The numbers of the roles that count; `null` where all do. */
  readonly roles: readonly number[] | null;
  readonly order: "asc" | "desc";
  readonly limit: number;
};

/** Rows, and each stream of values of theirs by itself, in the order of the columns; all in one piece of memory. */
export type PartRows = {
  readonly rows: number;
  readonly columns: readonly Uint8Array<ArrayBuffer>[];
};

/** Above so many granules, 50 KB each, it is no page that is asked for: the engine reads faster. */
const granulesMax = 512;

/** Of so few parts that may have rows of a token most have some, and are read whole. */
const partsSure = 4;
/** The granules of a token that is traded little: some four. */
const bytesAhead = 256 * 1024;

/** Reads out of the parts of one table. */
export class PartRowsReader {
  readonly #shelf: PartShelf;
  readonly #granule: GranuleReader;

  constructor(shelf: PartShelf) {
    this.#shelf = shelf;
    this.#granule = new GranuleReader(shelf.layout);
  }

  /** Opens parts that are new, which who asks next does not wait for then, and lets go of those that are gone. */
  refresh(): void {
    this.#shelf.parts();
  }

  /** Lets go of those that are gone. */
  letGo(): void {
    this.#shelf.letGo();
  }

  /**
   * The first rows of those asked for, in no order, and with some behind them where parts of the table are no stretches
   * of the second key. `null` when it takes more reading than is done here. Throws `PartUnreadableError`, and what
   * reading files does.
   */
  read(choice: RowChoice): PartRows | null {
    const parts = inOrder(this.#shelf.parts(), choice);
    const found = new FoundRows(this.#shelf.layout);
    this.#granule.begin();
    let granulesLeft = granulesMax;
    for (const part of parts) {
      const missing = choice.limit - found.countBefore(part.map, choice.order);
      if (missing <= 0) break;
      const [from, to] = granulesOf(part.map, choice);
      if (parts.length <= partsSure) this.#readAhead(part, from, to);
      const end = found.rows + missing;
      for (let step = 0; step < to - from && found.rows < end; step += 1) {
        if (granulesLeft === 0) return null;
        granulesLeft -= 1;
        this.#open(part, choice.order === "asc" ? from + step : to - 1 - step);
        this.#takeRows({ ...choice, limit: end - found.rows }, found);
      }
    }
    return found.joined();
  }

  close(): void {
    this.#shelf.close();
  }

  #readAhead({ map, fd }: OpenPart, from: number, to: number): void {
    const [begin = 0, end = 0] = [map.places[from], map.places[to]];
    if (end > begin && end - begin <= bytesAhead)
      this.#granule.readAhead({ fd, from: begin, to: end });
  }

  #open({ map, fd }: OpenPart, granule: number): void {
    const [from = 0, to = 0] = map.places.subarray(granule, granule + 2);
    this.#granule.open({ fd, from, to, rows: map.rows[granule] ?? 0 });
  }

  #takeRows(choice: RowChoice, found: FoundRows): void {
    const { order, limit } = choice;
    const chosen = this.#chosenRows(choice);
    found.add(this.#granule, order === "asc" ? chosen.slice(0, limit) : chosen.slice(-limit));
  }

  /** By their numbers within the granule, rising. */
  #chosenRows({ token, from, to, times, roles }: RowChoice): number[] {
    const { layout } = this.#shelf;
    const granule = this.#granule;
    const { rows } = granule;
    const [first, end] = rangeOf(granule.column(layout.key[0], rows), token, rows);
    if (first === end) return [];
    const { key, chosenBy } = layout;
    const width = layout.columns[key[1]]?.widths[0] ?? 0;
    const seconds = granule.column(key[1], end);
    const timestamps = chosenBy === null ? null : granule.column(chosenBy.timestamp, end);
    const told = chosenBy === null || roles === null ? null : granule.column(chosenBy.role, end);
    const chosen: number[] = [];
    for (let row = first; row < end; row += 1) {
      const second = integerAt(seconds, row * width, width);
      if (second < from || second >= to) continue;
      const timestamp = timestamps?.readUInt32LE(4 * row) ?? times.firstTimestamp;
      if (timestamp < times.firstTimestamp || timestamp > times.lastTimestamp) continue;
      if (told === null || roles?.includes(told[row] ?? 0) === true) chosen.push(row);
    }
    return chosen;
  }
}

/** Which rows are of a token; they follow each other. */
function rangeOf(tokens: Buffer, token: Buffer, rows: number): readonly [number, number] {
  const isBelow = (row: number, orEqual: boolean): boolean => {
    const order = token.compare(tokens, row * tokenBytes, (row + 1) * tokenBytes);
    return orEqual ? order >= 0 : order > 0;
  };
  const countOf = (orEqual: boolean): number => {
    let [low, high] = [0, rows];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBelow(middle, orEqual)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return [countOf(false), countOf(true)];
}

/** The parts that may have rows of a choice: in its order, where they are stretches of it. */
function inOrder(parts: readonly OpenPart[], choice: RowChoice): readonly OpenPart[] {
  const isAsc = choice.order === "asc";
  return parts
    .filter(({ map }) => map.granules > 0 && meets(map, choice, choice.times))
    .toSorted((a, b) => (isAsc ? a.map.from - b.map.from : b.map.to - a.map.to));
}

/** Rows from granule to granule. */
class FoundRows {
  readonly #layout: PartLayout;
  /** The second keys. */
  readonly #places: number[] = [];
  readonly #columns: readonly PartColumn[];
  /** Of each column, of each of its streams, what came of each granule. */
  readonly #pieces: readonly (readonly Buffer[][])[];

  constructor(layout: PartLayout) {
    this.#layout = layout;
    this.#columns = layout.columns.slice(0, layout.columnsRead);
    this.#pieces = this.#columns.map(({ widths }) => widths.map(() => []));
  }

  get rows(): number {
    return this.#places.length;
  }

  /** How many come before whatever is in a part. */
  countBefore({ from, to }: Span, order: RowChoice["order"]): number {
    return this.#places.filter((place) => (order === "asc" ? place < from : place >= to)).length;
  }

  /** Takes over some rows of a granule, by their numbers, rising. */
  add(granule: GranuleReader, numbers: readonly number[]): void {
    const rowsNeeded = (numbers.at(-1) ?? -1) + 1;
    if (rowsNeeded === 0) return;
    const runs = runsOf(numbers);
    for (const [index, { widths }] of this.#columns.entries()) {
      const values = granule.column(index, rowsNeeded);
      let from = 0;
      for (const [stream, width] of widths.entries()) {
        const picked = Buffer.allocUnsafe(width * numbers.length);
        copyRuns(values.subarray(from), { runs, width, picked });
        this.#pieces[index]?.[stream]?.push(picked);
        from += width * granule.rows;
      }
    }
    const [, second] = this.#layout.key;
    const width = this.#columns[second]?.widths[0] ?? 0;
    const places = granule.column(second, rowsNeeded);
    for (const number of numbers) this.#places.push(integerAt(places, number * width, width));
  }

  /** Each stream in one piece, and these side by side. */
  joined(): PartRows {
    const streams = this.#pieces.flatMap((pieces, index) => {
      // How long texts are is known.
      const isText = this.#columns[index]?.type === "String";
      return isText ? pieces.slice(1) : pieces;
    });
    const bytes = new Uint8Array(streams.flat().reduce((sum, { length }) => sum + length, 0));
    let end = 0;
    const columns = streams.map((pieces) => {
      const from = end;
      for (const piece of pieces) {
        bytes.set(piece, end);
        end += piece.length;
      }
      return bytes.subarray(from, end);
    });
    return { rows: this.rows, columns };
  }
}

/** Rows that follow each other: from one number up to another. */
type Run = readonly [from: number, to: number];

function runsOf(numbers: readonly number[]): readonly Run[] {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.[1] === number) last[1] += 1;
    else runs.push([number, number + 1]);
  }
  return runs;
}

function copyRuns(
  values: Buffer,
  { runs, width, picked }: { runs: readonly Run[]; width: number; picked: Buffer },
): void {
  let end = 0;
  for (const [from, to] of runs) end += values.copy(picked, end, from * width, to * width);
}
