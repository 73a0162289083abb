import assert from "node:assert/strict";
import { test } from "node:test";
import { accessLimits, webLimits } from "../../base/config/limits.ts";
import type { RedisConnection } from "../../base/redis/redis-connection.ts";
import { redisNames } from "../../base/redis/redis-names.ts";
import { systemClock } from "../../base/time/clock.ts";
import type { IpBlock } from "../ip-blocks.ts";
import { ClusterIpBlocks } from "./cluster-ip-blocks.ts";

type Entry = { readonly id: string; readonly message: Readonly<Record<string, string>> };

/** A stream of Redis in memory, with the commands that the blocks use. */
class ScriptedLog {
  entries: Entry[] = [];
  isDown = false;
  /** The largest number of entries that a command returned. */
  readMax = 0;
  #last = 0;

  get buckets(): readonly unknown[] {
    return this.entries.map(
      ({ message }) => (JSON.parse(message["change"] ?? "") as IpBlock).bucket,
    );
  }

  add(block: IpBlock): void {
    this.append({ change: JSON.stringify({ bucket: block.bucket, block }) });
  }

  append(message: Entry["message"]): void {
    this.#last += 1;
    this.entries.push({ id: `${this.#last}-0`, message });
  }

  async run(command: (client: unknown) => Promise<unknown>): Promise<unknown> {
    if (this.isDown) throw new Error("Redis is down");
    const getNumber = (id: string) => Number.parseInt(id, 10);
    return command({
      xLen: async () => this.entries.length,
      xRange: async (...[, from, , { COUNT }]: [string, string, string, { COUNT: number }]) => {
        const found = this.entries.filter(
          ({ id }) => from === "-" || getNumber(id) >= getNumber(from),
        );
        const read = found.slice(0, COUNT);
        this.readMax = Math.max(this.readMax, read.length);
        return read;
      },
      evalSha: async (_hash: string, { arguments: words }: { arguments: readonly string[] }) => {
        const [after, _kept, ...changes] = words;
        const newest = this.entries.at(-1)?.id ?? after;
        if (after === "" || after === newest) for (const change of changes) this.append({ change });
      },
    });
  }
}

test("R15: holds a bounded number of the blocks that other nodes append", async () => {
  const log = new ScriptedLog();
  const blocks = openBlocks(log);
  const count = webLimits.ipBlocksMax + 1;
  for (let number = 1; number <= count; number += 1) log.add(toBlock(number));
  await blocks.follow();
  assert.equal(blocks.get(toBucket(1)), null);
  assert.notEqual(blocks.get(toBucket(2)), null);
  assert.notEqual(blocks.get(toBucket(count)), null);
});

test("an IP block is appended again only if Redis has lost it", async () => {
  const log = new ScriptedLog();
  const blocks = openBlocks(log);
  blocks.put(toBlock(1));
  await blocks.follow();
  await blocks.follow();
  assert.equal(log.entries.length, 1);
  log.entries = [];
  log.add(toBlock(2));
  await blocks.follow();
  assert.deepEqual(log.buckets, [toBucket(2), toBucket(1)]);
  await blocks.follow();
  assert.equal(log.entries.length, 2);
});

test("an IP block that Redis did not accept survives older changes of its IP", async () => {
  const log = new ScriptedLog();
  const blocks = openBlocks(log);
  log.add({ ...toBlock(1), blockedAtMs: 5, blockedUntilMs: 6 });
  log.isDown = true;
  const block = toBlock(1);
  blocks.put(block);
  await assert.rejects(blocks.follow());
  log.isDown = false;
  await blocks.follow();
  assert.deepEqual(blocks.get(block.bucket), block);
  assert.deepEqual(log.buckets, [block.bucket, block.bucket]);
});

test("IP blocks that a full log has dropped are not appended again", async () => {
  const log = new ScriptedLog();
  const blocks = openBlocks(log);
  log.add(toBlock(1));
  await blocks.follow();
  log.entries = [];
  for (let number = 2; number <= webLimits.ipBlocksMax + 1; number += 1) log.add(toBlock(number));
  await blocks.follow();
  assert.equal(log.entries.length, webLimits.ipBlocksMax);
  assert.equal(blocks.get(toBucket(1)), null);
});

test("nodes read and restore more blocks than one command takes, each once", async () => {
  const log = new ScriptedLog();
  const count = 2 * accessLimits.ipChangesBatchMax + 1;
  for (let number = 1; number <= count; number += 1) log.add(toBlock(number));
  const nodes = [openBlocks(log), openBlocks(log)];
  const follow = () => Promise.all(nodes.flatMap((node) => [node.follow(), node.follow()]));
  await follow();
  for (const node of nodes) assert.notEqual(node.get(toBucket(count)), null);
  log.entries = [];
  for (let rounds = 0; rounds < 3; rounds += 1) await follow();
  assert.equal(new Set(log.buckets).size, count);
  assert.equal(log.entries.length, count);
  assert(log.readMax <= accessLimits.ipChangesBatchMax);
});

function openBlocks(log: ScriptedLog): ClusterIpBlocks {
  const redis = log as unknown as RedisConnection;
  return new ClusterIpBlocks({ redis, names: redisNames("test"), clock: systemClock });
}

function toBlock(number: number): IpBlock {
  const blockedAtMs = systemClock.nowMs();
  const blockedUntilMs = blockedAtMs + 600_000;
  return { bucket: toBucket(number), reason: "abuse", offenses: 1, blockedAtMs, blockedUntilMs };
}

function toBucket(number: number): string {
  return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
}
