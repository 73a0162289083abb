/** Both clients answer a list of calls alike. The tests of the Python client make the same calls. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, suite, test } from "node:test";
import { recommendedBackoff } from "../../clients/typescript/src/backoff.ts";
import { OddwireClient } from "../../clients/typescript/src/client.ts";
import { OddwireError } from "../../clients/typescript/src/oddwire-error.ts";
import { Pages } from "../../clients/typescript/src/pages.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { type Scripted, serveScripts } from "../support/serve-scripts.ts";

/** A call of a client, and its answer: fields of one row, or of the first and last row of a list, or an error. */
type Call = {
  readonly method: string;
  readonly arguments: readonly unknown[];
  readonly query: Row;
  readonly answer?: Row;
  readonly rows?: number;
  readonly first?: Row;
  readonly last?: Row;
  /** What another server answers, in place of the service, and how many requests it gets. */
  readonly served?: Scripted & { readonly requests: number };
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
    const { method, arguments: given, query, served } = call;
    test(`${method} ${JSON.stringify([...given, query, served ?? ""])}`, async (t) => {
      if (call.error !== undefined) {
        const other = served && (await serveScripts(t, [served]));
        const caller =
          other &&
          new OddwireClient({ url: other.url, backoff: { ...recommendedBackoff, firstWaitMs: 1 } });
        await assert.rejects(ask(call, caller), (thrown) => {
          assert(thrown instanceof OddwireError);
          if (other !== undefined) {
            assert.equal(other.requests.length, served?.requests);
            assert.match(thrown.message, new RegExp(`${other.url}/v1/.*${served?.status}`));
          }
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
  async function ask(
    { method, arguments: given, query }: Call,
    caller: OddwireClient = client,
  ): Promise<unknown> {
    const methods = caller as unknown as Record<string, (...input: unknown[]) => unknown>;
    const answer = await methods[method]?.call(caller, ...given, query);
    if (!(answer instanceof Pages)) return answer;
    const rows: unknown[] = [];
    for await (const row of answer) rows.push(row);
    return rows;
  }
});
