/**
 * Size: a wallet with a million rows, a wallet with 50,000 positions, and a token with 200,000 holders. All of it is
 * exact, and the process answers other requests meanwhile. SQL multiplies rows of a recording.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { formatMicros } from "../../src/base/decimal.ts";
import { type Address, formatTokenId, type TokenId, toSeq } from "../../src/base/ids.ts";
import { type BlockFacts, emptyBlock } from "../../src/market/block-facts.ts";
import { hexLiteral } from "../../src/storage/sql-literal.ts";
import { measureLongestTurn } from "../support/measure-turns.ts";
import { toMicros } from "../support/naive-filters.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";

const trades = 20_000;
const rows = 1_000_000;
const manyPositions = 50_000;
const manyHolders = 200_000;
/** The most processor time of a turn of the event loop: the goal is 20 ms, garbage collection apart. */
const turnMsMax = 40;

const trader = `0x${"0a".repeat(20)}` as Address;
const collector = `0x${"0b".repeat(20)}` as Address;
const server = await DataServer.open();
after(() => server.close());
const { engine } = server.store;
const { directory } = server.state;
const tokenIds = [...new Set(server.fills.map(({ tokenId }) => tokenId))]
  .filter(
    (tokenId) =>
      directory.isCompleteToken(tokenId) && !directory.getToken(tokenId).market?.resolution,
  )
  .slice(0, 20);
const firstBlock = 100;
const blocks = 800;

/** Adds copies of one row. Each has a log of its own, and values that derive from its `number`. */
async function multiply(
  table: string,
  { where, from = 0, to, values }: { where: string; from?: number; to: number; values: string },
): Promise<void> {
  const seq = `(${firstBlock} + number % ${blocks}) * 1000000 + 10000 + intDiv(number, ${blocks})`;
  await engine.command(`INSERT INTO ${table} SELECT * EXCEPT number
    REPLACE (${seq} AS seq, timestamp + 600 * (number % ${blocks}) AS timestamp, ${values})
    FROM (SELECT * FROM ${table} WHERE ${where} LIMIT 1) AS one
    CROSS JOIN (SELECT toInt64(number) AS number FROM numbers(${from}, ${to - from})) AS numbers
    SETTINGS allow_suspicious_fixed_string_types = 1`);
}

const wallet = `${hexLiteral(trader)} AS wallet`;
const token = `[${tokenIds.map(hexLiteral).join()}][1 + intDiv(number, 2) % ${tokenIds.length}] AS token_id`;
const size = "(1 + intDiv(number, 2) % 1000) * 2000000";
const isTransfer = "kind = 'transfer_in'";
// Every second trade sells half of what the one before has bought. Then single units come.
await multiply("ledger", {
  where: "kind = 'trade' AND role = 'maker' AND shares > 0",
  to: trades,
  values: `${wallet}, ${token}, number % 2 = 0 ? ${size} : -${size} / 2 AS shares, number % 2 = 0 ? cash : -cash AS cash`,
});
await multiply("ledger", {
  where: isTransfer,
  from: trades,
  to: rows,
  values: `${wallet}, ${token}, 1 AS shares`,
});
for (const table of ["fills", "fills_by_token"]) {
  const where = "role = 'maker' AND side = 'BUY'";
  await multiply(table, { where, to: trades, values: `${token}, ${hexLiteral(trader)} AS maker` });
}
const [heldToken = "" as TokenId] = tokenIds;
const outcome = directory.getSlot(heldToken)?.outcomeIndex;
const holdersPath = `/v1/markets/${formatTokenId(heldToken)}/holders?outcome_index=${outcome}`;
const fewHolders = await server.getAll(holdersPath);
await multiply("balance_changes", {
  where: `token_id = ${hexLiteral(heldToken)} AND shares > 0`,
  to: manyHolders,
  values: `unhex(leftPad(hex(number + 1), 40, '0')) AS wallet, 1 + number * 31 % 997 AS shares`,
});
await multiply("ledger", {
  where: isTransfer,
  to: manyPositions,
  values: `${hexLiteral(collector)} AS wallet, 1 + number % 1000 AS shares,
    reinterpretAsFixedString(toUInt256(number + 1)) AS token_id`,
});

/**
 * Requests paths one after the other and returns the bodies. Meanwhile other requests are answered, and no turn of the
 * event loop is long.
 */
async function requestBesideOthers(paths: readonly string[]): Promise<readonly string[]> {
  const bodies: string[] = [];
  let others = 0;
  const done = new AbortController();
  const ask = async () => {
    for (; !done.signal.aborted; others += 1) {
      await server.getPage("/v1/markets?limit=1");
      await pause(20);
    }
  };
  const asking = ask();
  const longestMs = await measureLongestTurn(async () => {
    for (const path of paths) {
      const chunks: Uint8Array[] = [];
      const headers = { "x-api-key": server.edge.keys.admin, "accept-encoding": "identity" };
      const { body, status } = await fetch(server.edge.url + path, { headers });
      assert(body !== null);
      for await (const chunk of body) chunks.push(chunk);
      bodies.push(await new Blob(chunks).text());
      assert.equal(status, 200, bodies.at(-1));
    }
  });
  done.abort();
  await asking;
  assert(longestMs < turnMsMax, `a turn of ${longestMs} ms`);
  assert(others >= paths.length, `${others} other requests`);
  return bodies;
}

function parseLines(text = ""): readonly Row[] {
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
}

function byToken(one: Row, other: Row): number {
  return String(one["token_id"]) < String(other["token_id"]) ? -1 : 1;
}

/** The positions of the trader, by adding up what was stored. */
function getPositions(): readonly Row[] {
  const sums = tokenIds.map((tokenId) => ({ tokenId, bought: 0n, sold: 0n, received: 0n }));
  for (let number = 0; number < rows; number += 1) {
    const pair = number >>> 1;
    const sum = sums[pair % sums.length];
    assert(sum !== undefined);
    const half = BigInt(1 + (pair % 1000)) * 1_000_000n;
    if (number >= trades) sum.received += 1n;
    else if (number % 2 === 0) sum.bought += 2n * half;
    else sum.sold += half;
  }
  const positions = sums.map(({ tokenId, bought, sold, received }) => ({
    token_id: formatTokenId(tokenId),
    size: formatMicros(bought - sold + received),
    cost_known_size: formatMicros(bought - sold),
    bought: formatMicros(bought),
    sold: formatMicros(sold),
  }));
  return positions.toSorted(byToken);
}

test("200: positions, profit and totals of a million rows", async () => {
  const own = `/v1/wallets/${trader}`;
  const paths = [`${own}/positions?limit=500`, own, `${own}/pnl?order=desc&limit=1`];
  const bodies = await requestBesideOthers(paths);
  const [positions, totals, pnl] = bodies.map(
    (body) => (JSON.parse(body) as { data: unknown }).data,
  );
  const found = positions as readonly Row[];
  assert.deepEqual(
    found
      .map(({ token_id, size: held, cost_known_size, bought, sold }) => {
        return { token_id, size: held, cost_known_size, bought, sold };
      })
      .toSorted(byToken),
    getPositions(),
  );
  const realized = formatMicros(
    found.reduce((sum, row) => sum + toMicros(row["realized_pnl"]), 0n),
  );
  const { maker_trades, positions_total, realized_pnl } = totals as Row;
  assert.deepEqual(
    [maker_trades, positions_total, realized_pnl],
    [trades, tokenIds.length, realized],
  );
  const [last] = pnl as readonly Row[];
  assert.deepEqual(
    [last?.["cumulative_trades"], last?.["cumulative_realized_pnl"]],
    [trades, realized],
  );
});

test("200: trades and activity of a wallet to the end, each once and in order", async () => {
  // An eightieth of the blocks.
  const range = `from_block=${firstBlock}&to_block=${firstBlock + blocks / 80 - 1}`;
  const activity = `/v1/wallets/${trader}/activity?${range}`;
  const someTrades = `/v1/trades?wallet=${trader}&${range}`;
  const files = await requestBesideOthers(
    [`/v1/trades?wallet=${trader}`, activity].map((path) => `${path}&format=ndjson&fields=seq`),
  );
  const lists: readonly (readonly [readonly Row[], number])[] = [
    [parseLines(files[0]), trades],
    [parseLines(files[1]), rows / 80],
    [await server.getAll(`${activity}&limit=1000`), rows / 80],
    [await server.getAll(`${someTrades}&limit=1000`), trades / 80],
  ];
  for (const [found, count] of lists) {
    const seqs = found.map(({ seq }) => Number(seq));
    assert.equal(new Set(seqs).size, count);
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => b - a),
    );
  }
});

test("200: fifty thousand positions, each once and in order", async () => {
  const own = `/v1/wallets/${collector}`;
  const path = `${own}/positions?sort=size`;
  const [file, totals] = await requestBesideOthers([
    `${path}&format=ndjson&fields=token_id,size`,
    own,
    `${own}/pnl`,
    `${path}&limit=500`,
  ]);
  const all = parseLines(file);
  assert.equal(new Set(all.map((row) => row["token_id"])).size, manyPositions);
  const sizes = all.map((row) => toMicros(row["size"]));
  assert(sizes.every((held, at) => at === 0 || held <= (sizes[at - 1] ?? 0n)));
  const sum = sizes.reduce((total, held) => total + held, 0n);
  assert.equal(sum, (BigInt(manyPositions) * 1001n) / 2n);
  const { data } = JSON.parse(totals ?? "") as { data: Row };
  assert.equal(data["positions_total"], manyPositions);
  const first = await server.getPage(`${path}&limit=500`);
  const next = await server.getPage(`${path}&limit=500&cursor=${first.pagination.next_cursor}`);
  assert.deepEqual(
    [...first.data, ...next.data].map((row) => row["token_id"]),
    all.slice(0, 1000).map((row) => row["token_id"]),
  );
});

test("200: 200,000 holders on pages, each once and in order, while a block comes", async () => {
  const holders = new Map(fewHolders.map((row) => [String(row["address"]), toMicros(row["size"])]));
  for (let number = 0; number < manyHolders; number += 1) {
    const address = `0x${(number + 1).toString(16).padStart(40, "0")}`;
    holders.set(address, BigInt(1 + ((number * 31) % 997)));
  }
  const inOrder = () =>
    [...holders].toSorted(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x < y ? 1 : -1));
  const [largest = ["", 0n], smallest = ["", 0n]] = [inOrder()[0], inOrder().at(-1)];
  const newcomer = `0x${"0c".repeat(20)}`;
  let pages = 1;
  const found = await server.getAll(`${holdersPath}&limit=1000`, async () => {
    pages += 1;
    if (pages !== 3) return;
    // The largest of the first page grows, one of the last page leaves, and another comes.
    const changes = [
      [largest[0], 5n],
      [smallest[0], -smallest[1]],
      [newcomer, 2n],
    ] as const;
    await server.hold(makeBlock(changes));
    holders.delete(smallest[0]);
    holders.set(newcomer, 2n);
  });
  assert.deepEqual(
    found.map(({ address, size: held }) => [address, held]),
    inOrder().map(([address, held]) => [address, formatMicros(held)]),
  );
  const { meta } = await server.getPage(`${holdersPath}&limit=1`);
  const [counts] = meta["outcomes"] as readonly Row[];
  assert.equal(counts?.["holders"], holders.size);
  const [file] = await requestBesideOthers([`${holdersPath}&format=ndjson&fields=address`]);
  const addresses = parseLines(file).map(({ address }) => address);
  assert.deepEqual(new Set(addresses), new Set(holders.keys()));
  assert.equal(addresses.length, holders.size);
});

/** The next block, in which balances of the held token change. */
function makeBlock(changes: readonly (readonly [string, bigint])[]): BlockFacts {
  const { newest } = server.store.headBuffer;
  assert(newest !== null);
  const number = newest.number + 1;
  const balances = changes.map(([address, shares], log) => ({
    seq: toSeq(number, log),
    timestamp: newest.timestamp,
    tokenId: heldToken,
    wallet: address as Address,
    shares,
  }));
  return { ...newest, ...emptyBlock, number, balances };
}
