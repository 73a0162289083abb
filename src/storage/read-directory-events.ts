import type { Seq } from "../base/ids.ts";
import type { Range } from "../base/range.ts";
import { noticeKinds } from "../contracts/events.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import { eventColumns, parseEvent } from "./codec/event-codec.ts";
import type { Engine } from "./engine/engine.ts";
import { integerLiteral, listLiteral, wordLiteral } from "./sql-literal.ts";

/** Rows of one answer of the engine, which is one string. The largest rows, texts of questions, have some kilobytes. */
const pageRows = 50_000;

/** Reads the events of a range of positions in chain order, except notices of exchanges, which say nothing about markets. */
export async function* readDirectoryEvents(
  engine: Engine,
  { from, to }: Range<Seq>,
): AsyncGenerator<LocatedEvent, void, undefined> {
  const notices = listLiteral(noticeKinds.map(wordLiteral));
  for (let next: number = from; ; ) {
    const clauses = `FROM events WHERE kind NOT IN ${notices} AND seq >= ${integerLiteral(next)}`;
    // The subquery finds the end of the page without reading the contents of events.
    const rows = await engine.query(
      `SELECT ${eventColumns} ${clauses} AND seq <= (SELECT max(seq) FROM (
         SELECT seq ${clauses} AND seq < ${integerLiteral(to)} ORDER BY seq LIMIT ${pageRows}))
       ORDER BY seq`,
    );
    yield* rows.map(parseEvent);
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    next = Number(last[0]) + 1;
  }
}
