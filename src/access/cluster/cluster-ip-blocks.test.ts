import assert from "node:assert/strict";
import { test } from "node:test";
import { webLimits } from "../../base/config/limits.ts";
import type { RedisConnection } from "../../base/redis.ts";
import { systemClock } from "../../base/time/clock.ts";
import { ClusterIpBlocks } from "./cluster-ip-blocks.ts";
import { redisKeys } from "./membership.ts";

test("R15: holds a bounded number of the blocks that other nodes announce", async () => {
  const redis = { run: async () => ({}) } as unknown as RedisConnection;
  const keys = redisKeys("test");
  const blocks = new ClusterIpBlocks({ redis, keys, clock: systemClock });
  await blocks.load(0);
  const bucketOf = (change: number) => `10.${change >> 16}.${(change >> 8) & 255}.${change & 255}`;
  const block = { reason: "abuse", offenses: 1, blockedAtMs: 1, blockedUntilMs: 2 };
  const count = webLimits.ipBlocksMax + 1;
  for (let change = 1; change <= count; change += 1) {
    const bucket = bucketOf(change);
    blocks.receive({ change, bucket, block: { ...block, bucket } });
  }
  assert.equal(blocks.get(bucketOf(1)), null);
  assert.notEqual(blocks.get(bucketOf(2)), null);
  assert.notEqual(blocks.get(bucketOf(count)), null);
});
