/**
 * The reorgs of the recording of wallets. After each branch and after the chain that replaced it, REST equals the books
 * of the recording, and so do the rows of a client that applies what the stream sends.
 */
import assert from "node:assert/strict";
import { formatMicros } from "../../../src/base/decimal.ts";
import { formatTokenId, parseTokenId, type TokenId } from "../../../src/base/ids.ts";
import { parseGen3TokenId } from "../../../src/market/ids/gen3-ids.ts";
import { readFixture } from "../read-fixture.ts";
import { getBooks, type RecordedBooks } from "../recorded-books.ts";
import { knownContracts } from "../recorded-chain.ts";
import {
  type Branch,
  formatActivity,
  formatExpectedActivity,
  readBranches,
} from "../recorded-ledger.ts";
import type { ScriptedBlock } from "../scripted-block.ts";
import type { ScriptedNode } from "../scripted-node.ts";
import { adminKey, type Service } from "../service.ts";
import { StreamClient, type StreamFrame } from "../stream-client.ts";
import { waitFor } from "../wait-for.ts";

const blocks = readFixture("wallets/chain.json.gz") as readonly ScriptedBlock[];
const contracts = [...knownContracts().byAddress.values()];
/** Accounts whose tokens are out of circulation. Generation 3 has none. */
const withdrawn = new Set<string>(
  contracts
    .filter(({ kind }) => ["burn_address", "binary_module", "neg_risk_module"].includes(kind))
    .map(({ address }) => address),
);

type Row = Readonly<Record<string, unknown>>;

/** Follows the chain above finality to the end of the last reorg. The service starts below the first. */
export async function followReorgs(node: ScriptedNode, service: Service): Promise<void> {
  const branches = readBranches();
  const consumer = await Consumer.open(service, [...new Set(branches.flatMap(getWallets))]);
  for (const branch of branches) {
    node.setHead(branch.from - 1);
    await service.waitIndexed(branch.from - 1);
    node.fork(branch.blocks);
    await service.waitIndexed(branch.to);
    await assertServed(service, { branch, consumer, books: getBooks(branch.from - 1, branch) });
    node.fork(blocks.slice(branch.from));
    node.setHead(branch.to + 1);
    await service.waitIndexed(branch.to + 1);
    await assertServed(service, { branch, consumer, books: getBooks(branch.to + 1) });
  }
  assert.equal(consumer.reorgs, branches.length);
  consumer.close();
}

/** The wallets that a branch or the blocks instead of it concern. */
function getWallets({ from, to, ledger }: Branch): string[] {
  const replaced = getBooks(to + 1).rows.filter(({ block }) => block >= from);
  return [...ledger, ...replaced]
    .filter(({ kind }) => kind !== "resolution")
    .map(({ wallet }) => wallet);
}

type Expected = {
  readonly branch: Branch;
  readonly books: RecordedBooks;
  readonly consumer: Consumer;
};

async function assertServed(
  service: Service,
  { branch, books, consumer }: Expected,
): Promise<void> {
  const wallets = new Set(getWallets(branch));
  const served: Row[] = [];
  for (const wallet of wallets) {
    const path = `/v1/wallets/${wallet}`;
    const rows = books.rows.filter((row) => row.wallet === wallet);
    if (rows.length === 0) {
      assert.equal((await service.request(path)).status, 404);
      continue;
    }
    const activity = await service.getAllPages(`${path}/activity?order=asc&limit=900`);
    // The rows of branches are recorded without the hash of their transaction, which is first.
    const format = (row: string) => row.slice(row.indexOf(" "));
    const expected = rows.map((row) => format(formatExpectedActivity(row))).toSorted();
    const own = activity.map((row) => format(formatActivity(row))).toSorted();
    assert.deepEqual(own, expected, wallet);
    served.push(...activity);
    await assertPositions(service, wallet, books);
  }
  const tokens = new Set(
    branch.balances.flatMap(([, changed]) => changed.map(([, token]) => token)),
  );
  for (const token of tokens) await assertHolders(service, token, books);
  await consumer.assertHas(served, wallets);
}

async function assertPositions(
  service: Service,
  wallet: string,
  books: RecordedBooks,
): Promise<void> {
  const rows = await readRows(service, `/v1/wallets/${wallet}/positions?status=all&limit=500`);
  const positions = books.positions.get(wallet) ?? new Map();
  const own = rows.map((row) =>
    [
      row["token_id"],
      row["size"],
      row["cost_known_size"],
      row["cost_usd"],
      row["realized_pnl"],
      row["unknown_proceeds_usd"],
      row["fees_usd"],
      row["bought"],
      row["sold"],
    ].join(" "),
  );
  const right = [...positions].map(([tokenId, position]) => {
    const { shares, known, cost, feeCost, realized, unknownProceeds, fees, bought, sold } =
      position;
    const amounts = [shares, known, cost + feeCost, realized, unknownProceeds, fees, bought, sold];
    return [formatTokenId(tokenId), ...amounts.map(formatMicros)].join(" ");
  });
  assert.deepEqual(own.toSorted(), right.toSorted(), wallet);
  const points = await readRows(service, `/v1/wallets/${wallet}/pnl?limit=500&order=desc`);
  const realized = [...positions.values()].reduce((sum, position) => sum + position.realized, 0n);
  assert.equal(points[0]?.["cumulative_realized_pnl"] ?? "0", formatMicros(realized), wallet);
}

/** The holders of a token, and the circulating supply of its market. */
async function assertHolders(
  service: Service,
  token: string,
  { balances }: RecordedBooks,
): Promise<void> {
  const { status, body } = await service.request(`/v1/markets/${token}`);
  // A token that is of no market.
  if (status === 404) return;
  const market = (body as { readonly data: Row }).data;
  const path = `/v1/markets/${token}/holders?include_contracts=true&limit=1000`;
  const rows = (await readRows(service, path)).filter((row) => row["token_id"] === token);
  const held = [...(balances.get(parseTokenId(token) as TokenId) ?? [])];
  assert.deepEqual(
    rows.map(({ address, size }) => `${String(address)} ${String(size)}`).toSorted(),
    held.map(([holder, size]) => `${holder} ${formatMicros(size)}`).toSorted(),
    token,
  );
  if (market["mirror"] !== null) return;
  const [point] = await readRows(service, `/v1/markets/${token}/open-interest?order=desc&limit=1`);
  const { tokens } = market as { readonly tokens: readonly { readonly token_id: string }[] };
  const supply = tokens.map(({ token_id: id }) => {
    const tokenId = parseTokenId(id) as TokenId;
    const isGen3 = parseGen3TokenId(tokenId) !== null;
    const holders = [...(balances.get(tokenId) ?? [])];
    const circulating = holders.filter(([holder]) => isGen3 || !withdrawn.has(holder));
    return formatMicros(circulating.reduce((sum, [, size]) => sum + size, 0n));
  });
  assert.deepEqual(point?.["supply"] ?? supply, supply, token);
}

async function readRows(service: Service, path: string): Promise<readonly Row[]> {
  return (await service.get<{ readonly data: readonly Row[] }>(path)).data;
}

/** A client that applies what the channel of wallets sends. */
class Consumer {
  readonly #client: StreamClient;
  readonly #rows = new Map<string, Row>();
  #seen = 0;
  reorgs = 0;

  private constructor(client: StreamClient) {
    this.#client = client;
  }

  static async open(service: Service, wallets: readonly string[]): Promise<Consumer> {
    const client = await StreamClient.open(service.baseUrl, { key: adminKey });
    await client.subscribe({ type: "wallet", wallets }, { resume_from: 0 });
    return new Consumer(client);
  }

  /** Waits until the client has these rows, and asserts that it has no others of these wallets. */
  async assertHas(rows: readonly Row[], wallets: ReadonlySet<string>): Promise<void> {
    await waitFor("the rows of REST", async () => {
      this.#fold();
      return rows.every(({ id }) => this.#rows.has(String(id))) || null;
    });
    const own = [...this.#rows.values()].filter(({ wallet }) => wallets.has(String(wallet)));
    assert.deepEqual(own.map(format).toSorted(), rows.map(format).toSorted());
  }

  close(): void {
    this.#client.close();
  }

  #fold(): void {
    const { frames } = this.#client;
    for (; this.#seen < frames.length; this.#seen += 1) this.#take(frames[this.#seen]);
  }

  #take(frame: StreamFrame | undefined): void {
    if (frame?.type === "event") {
      const data = frame["data"] as Row;
      assert(!this.#rows.has(String(data["id"])), "no row is sent twice");
      this.#rows.set(String(data["id"]), data);
    } else if (frame?.type === "reorg") {
      this.reorgs += 1;
      for (const id of frame["reverted"] as readonly string[]) assert(this.#rows.delete(id), id);
    }
  }
}

/** What of a row never changes: the names of a market can come after it. */
function format(row: Row): string {
  return `${String(row["id"])} ${String(row["seq"])} ${formatActivity(row)}`;
}
