/**
 * A Ponder application for the events of the squid in `subsquid.ts`, one table per kind of event, in PostgreSQL. Ponder
 * starts with 20 requests per second and endpoint and learns how many more an endpoint accepts. So it gets the node
 * under many names: the rate must not limit it here.
 *
 * `node bench/peers/ponder.ts RPC_URL SOCKET_FOLDER LAST_BLOCK` creates the project in that folder, prints how many
 * rows can be queried once Ponder is ready, and runs until it is killed.
 */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

type Client = {
  connect(): Promise<void>;
  query(sql: string): Promise<{ rows: Record<string, string>[] }>;
};

const names = 25;
const pauseMs = 50;
const [rpcUrl = "", folder = "", lastBlock = ""] = process.argv.slice(2);
const packages = fileURLToPath(new URL("node_modules", import.meta.url));
const urls = Array.from({ length: names }, (_, index) => `${rpcUrl}/${index}`);

const config = `import { createConfig } from "ponder";
import { parseAbi } from "viem";

const range = { chain: "polygon", startBlock: 0, endBlock: ${Number(lastBlock)} };

export default createConfig({
  database: {
    kind: "postgres",
    connectionString: ${JSON.stringify(`postgresql:///postgres?host=${folder}&user=postgres`)},
  },
  chains: { polygon: { id: 137, rpc: ${JSON.stringify(urls)} } },
  contracts: {
    Exchange: {
      ...range,
      address: "0xe111180000d2663c0091e4f400237545b87b996b",
      abi: parseAbi([
        "event OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker, uint8 side, uint256 tokenId, uint256 makerAmount, uint256 takerAmount, uint256 fee, bytes32 builder, bytes32 metadata)",
        "event OrdersMatched(bytes32 indexed orderHash, address indexed maker, uint8 side, uint256 tokenId, uint256 makerAmount, uint256 takerAmount)",
      ]),
    },
    ConditionalTokens: {
      ...range,
      address: "0x4d97dcd97ec945f40cf65f87097ace5ea0476045",
      abi: parseAbi([
        "event ConditionPreparation(bytes32 indexed conditionId, address indexed oracle, bytes32 indexed questionId, uint256 outcomeSlots)",
      ]),
    },
  },
});
`;

const schema = `import { onchainTable, primaryKey } from "ponder";

const place = (t) => ({
  block: t.integer().notNull(),
  logIndex: t.integer().notNull(),
  blockTime: t.bigint().notNull(),
  transactionHash: t.hex().notNull(),
});
const order = (t) => ({
  orderHash: t.hex().notNull(),
  maker: t.hex().notNull(),
  side: t.integer().notNull(),
  tokenId: t.bigint().notNull(),
  makerAmount: t.bigint().notNull(),
  takerAmount: t.bigint().notNull(),
});
const key = (table) => ({ key: primaryKey({ columns: [table.block, table.logIndex] }) });

export const orderFilled = onchainTable(
  "order_filled",
  (t) => ({
    ...place(t),
    ...order(t),
    taker: t.hex().notNull(),
    fee: t.bigint().notNull(),
    builder: t.hex().notNull(),
    metadata: t.hex().notNull(),
  }),
  key,
);
export const ordersMatched = onchainTable(
  "orders_matched",
  (t) => ({ ...place(t), ...order(t) }),
  key,
);
export const conditionPreparation = onchainTable(
  "condition_preparation",
  (t) => ({
    ...place(t),
    conditionId: t.hex().notNull(),
    oracle: t.hex().notNull(),
    questionId: t.hex().notNull(),
    outcomeSlots: t.bigint().notNull(),
  }),
  key,
);
`;

const indexing = `import { ponder } from "ponder:registry";
import { conditionPreparation, orderFilled, ordersMatched } from "ponder:schema";

const insertInto = (table) => async ({ event, context }) => {
  await context.db.insert(table).values({
    block: Number(event.block.number),
    logIndex: event.log.logIndex,
    blockTime: event.block.timestamp,
    transactionHash: event.transaction.hash,
    ...event.args,
  });
};

ponder.on("Exchange:OrderFilled", insertInto(orderFilled));
ponder.on("Exchange:OrdersMatched", insertInto(ordersMatched));
ponder.on("ConditionalTokens:ConditionPreparation", insertInto(conditionPreparation));
`;

const api = `import { Hono } from "hono";

export default new Hono();
`;

const project = join(folder, "project");
await mkdir(join(project, "src", "api"), { recursive: true });
await symlink(packages, join(project, "node_modules"));
const files = {
  "package.json": '{ "type": "module" }',
  "ponder.config.ts": config,
  "ponder.schema.ts": schema,
  "src/index.ts": indexing,
  "src/api/index.ts": api,
};
for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text);

const port = await findFreePort();
process.chdir(project);
const options = ["--schema", "public", "-H", "127.0.0.1", "-p", String(port)];
process.argv.splice(2, Infinity, "start", ...options, "--log-level", "error");
await import(pathToFileURL(join(packages, "ponder/dist/esm/bin/ponder.js")).href);
while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, pauseMs));
console.log(`${await countRows()} rows`);

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function isReady(): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/ready`)).ok;
  } catch {
    return false;
  }
}

async function countRows(): Promise<string> {
  const load = createRequire(import.meta.url);
  const { Client } = load("pg") as { Client: new (options: object) => Client };
  const client = new Client({ host: folder, user: "postgres", database: "postgres" });
  await client.connect();
  const tables = ["order_filled", "orders_matched", "condition_preparation"];
  const counts = tables.map((name) => `(select count(*) from ${name})`).join(" + ");
  const { rows } = await client.query(`select ${counts} as count`);
  return rows[0]?.["count"] ?? "no";
}
