/**
 * A squid as a user would write it for speed: `@subsquid/evm-processor` reads blocks and logs from the node's JSON-RPC,
 * `@subsquid/evm-abi` decodes them, and PostgreSQL stores one table per kind of event, with a batch and its cursor in
 * one transaction. Rows are inserted with COPY, and a table has only its primary key as an index: both save work that
 * a generated squid does.
 *
 * `node bench/peers/subsquid.ts RPC_URL SOCKET_FOLDER LAST_BLOCK` prints how many rows can be queried once the last
 * block is committed. It runs until it is killed, so that its resource usage can be read.
 */
import { createRequire } from "node:module";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";

type Log = {
  readonly logIndex: number;
  readonly transactionHash: string;
  readonly topics: readonly [string, ...string[]];
  readonly data: string;
};
type Block = {
  readonly header: { readonly height: number; readonly timestamp: number };
  readonly logs: readonly Log[];
};
type Head = { readonly height: number; readonly hash: string };
type Rows = ReadonlyMap<Table, string[]>;
type Database = {
  connect(): Promise<Head>;
  transact(info: { nextHead: Head }, store: (rows: Rows) => Promise<void>): Promise<void>;
};
type Processor = {
  setRpcEndpoint(options: { url: string; capacity: number; maxBatchCallSize: number }): Processor;
  setFinalityConfirmation(blocks: number): Processor;
  setBlockRange(range: { from: number; to: number }): Processor;
  setFields(fields: Record<string, Record<string, boolean>>): Processor;
  addLog(filter: { address: readonly string[]; topic0: readonly string[] }): Processor;
  run(
    database: Database,
    handle: (batch: { readonly blocks: readonly Block[]; readonly store: Rows }) => Promise<void>,
  ): void;
};
type Codec = { readonly isDynamic: boolean };
type Event = { decode(log: Log): Record<string, unknown> };
type Client = {
  connect(): Promise<void>;
  query(sql: string): Promise<{ rows: Record<string, string>[] }>;
  query(stream: Writable): Writable;
};

const [rpcUrl = "", socketFolder = "", lastBlock = ""] = process.argv.slice(2);
// These packages are not dependencies of this repository. So the types in use are declared above.
const load = createRequire(import.meta.url);
const { EvmBatchProcessor } = load("@subsquid/evm-processor") as {
  EvmBatchProcessor: new () => Processor;
};
const { event, indexed } = load("@subsquid/evm-abi") as {
  event: (topic: string, signature: string, parameters: Record<string, Codec>) => Event;
  indexed: (codec: Codec) => Codec;
};
const { address, bytes32, uint256, uint8 } = load("@subsquid/evm-codec") as Record<
  "address" | "bytes32" | "uint256" | "uint8",
  Codec
>;
const { Client } = load("pg") as { Client: new (options: object) => Client };
const { from } = load("pg-copy-streams") as { from: (sql: string) => Writable };

type Table = {
  readonly name: string;
  readonly topic: string;
  readonly event: Event;
  readonly columns: string;
};

const word = "bytea not null";
const number = "numeric(78,0) not null";
const tables: readonly Table[] = [
  table({
    name: "order_filled",
    topic: "0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee",
    parameters: {
      order_hash: [indexed(bytes32), word],
      maker: [indexed(address), word],
      taker: [indexed(address), word],
      side: [uint8, "smallint not null"],
      token_id: [uint256, number],
      maker_amount: [uint256, number],
      taker_amount: [uint256, number],
      fee: [uint256, number],
      builder: [bytes32, word],
      metadata: [bytes32, word],
    },
  }),
  table({
    name: "orders_matched",
    topic: "0x174b3811690657c217184f89418266767c87e4805d09680c39fc9c031c0cab7c",
    parameters: {
      taker_order_hash: [indexed(bytes32), word],
      taker_order_maker: [indexed(address), word],
      side: [uint8, "smallint not null"],
      token_id: [uint256, number],
      maker_amount: [uint256, number],
      taker_amount: [uint256, number],
    },
  }),
  table({
    name: "condition_preparation",
    topic: "0xab3760c3bd2bb38b5bcf54dc79802ed67338b4cf29f3054ded67ed24661e4177",
    parameters: {
      condition_id: [indexed(bytes32), word],
      oracle: [indexed(address), word],
      question_id: [indexed(bytes32), word],
      outcome_slots: [uint256, number],
    },
  }),
];
const tableByTopic = new Map(tables.map((one) => [one.topic, one]));

const client = new Client({ host: socketFolder, user: "postgres" });

new EvmBatchProcessor()
  .setRpcEndpoint({ url: rpcUrl, capacity: 10, maxBatchCallSize: 100 })
  .setFinalityConfirmation(0)
  .setBlockRange({ from: 0, to: Number(lastBlock) })
  .setFields({
    block: { timestamp: true },
    log: { transactionHash: true, topics: true, data: true },
  })
  .addLog({
    address: [
      "0xe111180000d2663c0091e4f400237545b87b996b",
      "0x4d97dcd97ec945f40cf65f87097ace5ea0476045",
    ],
    topic0: tables.map(({ topic }) => topic),
  })
  .run({ connect, transact }, async ({ blocks, store }) => {
    for (const { header, logs } of blocks) {
      for (const log of logs) {
        const one = tableByTopic.get(log.topics[0]);
        if (one !== undefined) store.get(one)?.push(toRow(log, header, one));
      }
    }
  });

function table(options: {
  readonly name: string;
  readonly topic: string;
  readonly parameters: Readonly<Record<string, readonly [Codec, string]>>;
}): Table {
  const { name, topic, parameters } = options;
  const entries = Object.entries(parameters);
  const codecs = Object.fromEntries(entries.map(([column, [codec]]) => [column, codec]));
  const columns = [
    "block integer not null, log_index integer not null",
    `block_time timestamptz not null, transaction_hash ${word}`,
    ...entries.map(([column, [, type]]) => `${column} ${type}`),
  ];
  return { name, topic, event: event(topic, name, codecs), columns: columns.join(", ") };
}

/** A row in COPY's text format. */
function toRow(log: Log, { height, timestamp }: Block["header"], { event }: Table): string {
  let row = `${height}\t${log.logIndex}\t${new Date(timestamp).toISOString()}\t`;
  row += toText(log.transactionHash);
  const values = event.decode(log);
  for (const column in values) row += `\t${toText(values[column])}`;
  return row;
}

function toText(value: unknown): string {
  return typeof value === "string" ? `\\\\x${value.slice(2)}` : String(value);
}

async function connect(): Promise<Head> {
  await client.connect();
  for (const { name, columns } of tables) {
    await client.query(`create table ${name} (${columns}, primary key (block, log_index))`);
  }
  await client.query("create table cursor (height integer not null, hash text not null)");
  await client.query("insert into cursor values (-1, '0x')");
  return { height: -1, hash: "0x" };
}

async function transact(
  { nextHead }: { nextHead: Head },
  store: (rows: Rows) => Promise<void>,
): Promise<void> {
  const rows = new Map(tables.map((one): [Table, string[]] => [one, []]));
  await store(rows);
  await client.query("begin");
  for (const [{ name }, lines] of rows) {
    if (lines.length > 0) await copy(name, lines);
  }
  await client.query(`update cursor set height = ${nextHead.height}, hash = '${nextHead.hash}'`);
  await client.query("commit");
  if (nextHead.height < Number(lastBlock)) return;
  console.log(`${await countRows()} rows`);
  await new Promise(() => {});
}

async function copy(name: string, lines: readonly string[]): Promise<void> {
  const stream = client.query(from(`copy ${name} from stdin`));
  stream.end(`${lines.join("\n")}\n`);
  await finished(stream);
}

async function countRows(): Promise<number> {
  const counts = tables.map(({ name }) => `(select count(*) from ${name})`).join(" + ");
  const { rows } = await client.query(`select ${counts} as count`);
  return Number(rows[0]?.["count"]);
}
