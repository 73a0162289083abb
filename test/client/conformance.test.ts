/** Both clients answer a list of calls alike. The tests of the Python client make the same calls. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, suite, test } from "node:test";
import { OddwireClient } from "../../clients/typescript/src/client.ts";
import { OddwireError } from "../../clients/typescript/src/oddwire-error.ts";
import { Pages } from "../../clients/typescript/src/pages.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";

/** A call of a client, and its answer: fields of one row, or of the first and last row of a list, or an error. */
type Call = {
  readonly method: string;
  readonly arguments: readonly unknown[];
  readonly query: Row;
  readonly answer?: Row;
  readonly rows?: number;
  readonly first?: Row;
  readonly last?: Row;
  readonly error?: {
    readonly status: number;
    readonly code: string;
    readonly parameters: string[];
  };
};

const file = new URL("../../clients/conformance.json", import.meta.url);
const calls = JSON.parse(await readFile(file, "utf8")) as readonly Call[];

suite("conformance of the TypeScript client", () => {
  let server: DataServer;
  let client: OddwireClient;
  before(async () => {
    server = await DataServer.open();
    client = new OddwireClient({ url: server.edge.url, key: server.edge.keys.read });
  });
  after(async () => server.close());

  for (const call of calls) {
    const { method, arguments: given, query } = call;
    test(`${method} ${JSON.stringify([...given, query])}`, async () => {
      if (call.error !== undefined) {
        await assert.rejects(ask(call), (thrown) => {
          assert(thrown instanceof OddwireError);
          const { status, code, details } = thrown;
          const parameters = details.map(({ parameter }) => parameter);
          assert.deepEqual({ status, code, parameters }, call.error);
          return true;
        });
        return;
      }
      const answer = await ask(call);
      if (!Array.isArray(answer)) return assert.partialDeepStrictEqual(answer, call.answer);
      assert.equal(answer.length, call.rows);
      if (call.first !== undefined) assert.partialDeepStrictEqual(answer.at(0), call.first);
      if (call.last !== undefined) assert.partialDeepStrictEqual(answer.at(-1), call.last);
    });
  }

  /** Returns one answer, or all rows of a list. */
  async function ask({ method, arguments: given, query }: Call): Promise<unknown> {
    const methods = client as unknown as Record<string, (...input: unknown[]) => unknown>;
    const answer = await methods[method]?.call(client, ...given, query);
    if (!(answer instanceof Pages)) return answer;
    const rows: unknown[] = [];
    for await (const row of answer) rows.push(row);
    return rows;
  }
});
