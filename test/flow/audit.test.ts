/** R7: the audit reads final ranges again, finds logs that nodes omitted, and has them repaired. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import type { Metrics } from "../../src/api/metrics/metrics-schema.ts";
import type { Hash } from "../../src/base/ids.ts";
import { AuditLog } from "../../src/feed/audit-log.ts";
import { encodeFacts } from "../../src/storage/codec/encode-facts.ts";
import { finishRepair, orderRepair } from "../../src/storage/recovery/repair.ts";
import { dropMarketsFile } from "../../src/views/disk/markets-file.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { cleanUp } from "../support/clean-up.ts";
import { type FaultHook, on } from "../support/faults.ts";
import { assertRecordedTruth } from "../support/recorded/assert-recorded-truth.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { type Stage, serveRecording } from "../support/recorded/serve-recording.ts";
import { runCommand } from "../support/run-command.ts";
import { RpcError } from "../support/scripted-answers.ts";
import { toQuantity } from "../support/scripted-block.ts";
import { ScriptedNode } from "../support/scripted-node.ts";
import type { Service } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

const recording = readRecording("contracts-a");
const [trade] = recording.trades;
assert.ok(trade !== undefined);
const wrongBlock = trade.block_number;
/** The head of the nodes during the audit. Few blocks are audited quickly; the other blocks are shown afterwards. */
const auditedHead = 699;

const noAudit = { ODDWIRE_AUDIT_CALLS_PER_MINUTE: "0" };
const fastAudit = { ODDWIRE_AUDIT_CALLS_PER_MINUTE: "60000" };

/** The node omits the logs of that block from its responses to `eth_getLogs`. Its receipts still have them. */
const forgetful: FaultHook = on("eth_getLogs", () => ({
  kind: "logs",
  change: (logs) => logs.filter((log) => Number(log.blockNumber) !== wrongBlock),
}));

const isGone = { kind: "error", error: new RpcError(-32000, "missing trie node") } as const;

/** The node no longer has the receipts of that block. */
const withoutReceipts: FaultHook = on("eth_getBlockReceipts", ({ params }) =>
  params[0] === recording.blocks[wrongBlock]?.hash ? isGone : null,
);

/** The node has nothing that accounts for every bit of the bloom of that block. */
const withoutProof: readonly FaultHook[] = [
  withoutReceipts,
  on("eth_getTransactionReceipt", () => isGone),
  on("eth_getLogs", ({ params }) => (Object.hasOwn(Object(params[0]), "address") ? null : isGone)),
];

async function openOtherNode(t: TestContext, blocks = recording.blocks): Promise<ScriptedNode> {
  const node = await ScriptedNode.open({ blocks });
  node.setHead(auditedHead);
  cleanUp(t, () => node.close());
  return node;
}

const indexed = join(await mkdtemp(join(tmpdir(), "oddwire-test-")), "data");
after(() => rm(dirname(indexed), { recursive: true }));

async function openStage(t: TestContext): Promise<Stage> {
  const stage = await serveRecording(t, recording);
  stage.node.setHead(auditedHead);
  return stage;
}

/** A stage with the folder of a service that has indexed these blocks and stopped. The first test fills it for all. */
async function openIndexedStage(t: TestContext): Promise<Stage> {
  const stage = await openStage(t);
  if (!existsSync(indexed)) {
    const service = await stage.startService([stage.node.url], noAudit);
    await service.waitFinalized(auditedHead);
    assert.equal(await service.stop(), 0);
    await cp(stage.dataDir, indexed, { recursive: true });
  } else await cp(indexed, stage.dataDir, { recursive: true });
  return stage;
}

/** Deletes the facts of that block from the store, like a repair from a node that omits its logs. */
async function forgetBlock(dataDir: string): Promise<void> {
  const store = await IndexedFacts.open(dataDir);
  const { hash, timestamp } = recording.blocks[wrongBlock] ?? { hash: "", timestamp: 0 };
  const last = { number: wrongBlock, hash: hash as Hash, timestamp };
  const nothing = encodeFacts({ fromBlock: wrongBlock, last }, []);
  await orderRepair(store.engine, nothing);
  await finishRepair(store.engine, () => dropMarketsFile(dataDir));
  await store.close();
}

/** Returns `null` while the service restarts. */
async function readIndexer(service: Service): Promise<Metrics["indexer"] | null> {
  const metrics = await service.get<Metrics>("/v1/metrics").catch(() => null);
  return metrics?.indexer ?? null;
}

async function waitForAudit(
  service: Service,
  isSo: (audit: Metrics["indexer"]["audit"]) => boolean,
): Promise<Metrics["indexer"]> {
  return waitFor("the audit", async () => {
    const indexer = await readIndexer(service);
    return indexer !== null && isSo(indexer.audit) ? indexer : null;
  });
}

/** Shows the remaining blocks, waits for them, and compares the service with the whole recording. */
async function assertWholeTruth(service: Service, nodes: readonly ScriptedNode[]): Promise<void> {
  const head = recording.blocks.length - 1;
  for (const node of nodes) node.setHead(head);
  await service.waitFinalized(head);
  await assertRecordedTruth(service, recording);
}

async function toTrades(service: Service, block: number): Promise<number> {
  const rows = await service.getAllPages(`/v1/trades?from_block=${block}&to_block=${block}`);
  return rows.length;
}

test("R7: logs of a final block that the only endpoint omitted are found in its receipts and repaired", async (t) => {
  const stage = await openStage(t);
  stage.node.fault(forgetful);
  const service = await stage.startService([stage.node.url], fastAudit);
  const { audit, warnings } = await waitForAudit(service, ({ repairs }) => repairs === 1);
  assert.deepEqual([audit.mismatches, audit.corrupt_ranges, audit.unverified_ranges], [1, 0, 0]);
  assert.deepEqual(warnings, []);
  await service.waitReady();
  await assertWholeTruth(service, [stage.node]);
  assert.match(service.stderr, /stored blocks are proven wrong/);
  assert.equal(await service.stop(), 0);
  const kept = await AuditLog.open(stage.dataDir);
  assert.ok(kept.status.ranges >= audit.ranges && kept.status.repairs === 1);
});

test("R7: logs that one endpoint omitted are found at another and repaired", async (t) => {
  const stage = await openIndexedStage(t);
  await forgetBlock(stage.dataDir);
  stage.node.fault(forgetful);
  stage.node.fault(withoutReceipts);
  const honest = await openOtherNode(t);
  const service = await stage.startService([stage.node.url, honest.url], fastAudit);
  await waitForAudit(service, ({ repairs }) => repairs === 1);
  await service.waitReady();
  await assertWholeTruth(service, [stage.node, honest]);
});

test("R7: an endpoint that contradicts correct facts is disproved, and nothing changes", async (t) => {
  const stage = await openIndexedStage(t);
  const liar = await openOtherNode(t);
  liar.fault(forgetful);
  const service = await stage.startService([stage.node.url, liar.url], fastAudit);
  const { audit, warnings } = await waitForAudit(service, ({ false_alarms }) => false_alarms > 0);
  assert.deepEqual([audit.mismatches, audit.repairs, warnings], [0, 0, []]);
  await assertWholeTruth(service, [stage.node, liar]);
});

test("R7: a contradiction that no endpoint can settle is a warning, and nothing changes", async (t) => {
  const stage = await openIndexedStage(t);
  const liar = await openOtherNode(t);
  const nodes = [stage.node, liar];
  const prove = nodes.flatMap((node) => withoutProof.map((fault) => node.fault(fault)));
  liar.fault(forgetful);
  const service = await stage.startService([stage.node.url, liar.url], fastAudit);
  const { warnings } = await waitForAudit(service, (audit) => audit.unverified_ranges > 0);
  assert.deepEqual(warnings, ["audit_mismatch"]);
  const ready = await service.request("/v1/ready");
  const { checks } = ready.body as { checks: Record<string, { ok: boolean; detail: string }> };
  assert.equal(ready.status, 200);
  assert.match(checks["audit"]?.detail ?? "", /1 unproven mismatch$/);
  assert.equal(checks["coverage"]?.detail, `blocks 0 to ${auditedHead} without a gap`);
  for (const again of prove) again();
  await assertWholeTruth(service, nodes);
});

test("R7: a contradiction about the time of a block is a warning, because receipts do not prove times", async (t) => {
  const stage = await openIndexedStage(t);
  const blocks = recording.blocks.map((block) => {
    if (block.number !== wrongBlock) return block;
    const timestamp = toQuantity(block.timestamp + 1);
    const logs = block.logs.map((log) => ({ ...log, blockTimestamp: timestamp }));
    return { ...block, header: { ...block.header, timestamp }, logs };
  });
  const liar = await openOtherNode(t, blocks);
  const service = await stage.startService([stage.node.url, liar.url], fastAudit);
  const { audit, warnings } = await waitForAudit(service, (status) => status.unverified_ranges > 0);
  assert.deepEqual([audit.false_alarms, audit.repairs, warnings], [0, 0, ["audit_mismatch"]]);
  assert.match(service.stderr, /one endpoint contradicts the times of blocks/);
});

test("R7: blocks that are corrupt again after a repair are left to the operator", async (t) => {
  const stage = await openIndexedStage(t);
  await forgetBlock(stage.dataDir);
  const service = await stage.startService([stage.node.url], fastAudit);
  await waitForAudit(service, ({ repairs }) => repairs === 1);
  assert.equal(await service.stop(), 0);

  await forgetBlock(stage.dataDir);
  const again = await stage.startService([stage.node.url], fastAudit);
  const { audit } = await waitForAudit(again, ({ corrupt_ranges }) => corrupt_ranges === 1);
  assert.equal(audit.repairs, 1);
  const ready = await again.request("/v1/ready");
  assert.equal(ready.status, 503);
  const { checks } = ready.body as { checks: Record<string, { ok: boolean; detail: string }> };
  assert.match(checks["audit"]?.detail ?? "", /^blocks \d+ to \d+ are stored incorrectly$/);
  assert.equal(await toTrades(again, wrongBlock), 0, "nothing was touched");
  assert.match(again.stderr, /wrong again; run oddwire repair/);
  assert.equal(await again.stop(), 0);

  const { code, stderr } = await runCommand(["repair"], stage.commandSettings);
  assert.equal(code, 0, stderr);
  const settled = await stage.startService([stage.node.url], noAudit);
  await settled.waitReady();
  await assertWholeTruth(settled, [stage.node]);
});
