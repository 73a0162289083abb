/** Contracts that the venue puts in use, but that are not configured, are noticed; texts of new reporters are read. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Address, ConditionId, Hash } from "../../src/base/ids.ts";
import { buildBlocks } from "../support/build-blocks.ts";
import { cleanUp } from "../support/clean-up.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { ScriptedNode } from "../support/scripted-node.ts";
import { Service } from "../support/service.ts";
import {
  addedReporter,
  announcement,
  type LogContent,
  registeredText,
} from "../support/test-markets.ts";
import { waitFor } from "../support/wait-for.ts";

const reporter = `0x${"e7".repeat(20)}` as Address;
const getCondition = (digits: string) => `0x01${digits.repeat(16)}`.padEnd(66, "0") as ConditionId;
/** Texts before the block that names the reporter, in it, and after it. */
const texts = { before: getCondition("b1"), within: getCondition("b2"), after: getCondition("b3") };
const textLog = (conditionId: ConditionId) => registeredText(conditionId, reporter, reporter);
/** One block for each of the logs. */
function getLogs(named: number, number: number): LogContent[] {
  if (number === 1) return Object.values(texts).map((id) => announcement(id as string as Hash, 0));
  if (number === named - 1) return [textLog(texts.before)];
  if (number === named) return [textLog(texts.within), addedReporter(reporter)];
  return number === named + 2 ? [textLog(texts.after)] : [];
}

type Ready = { readonly checks: { readonly contracts: { readonly ok: boolean; detail: string } } };
type Markets = { readonly data: readonly { readonly id: string; readonly question: string }[] };
type Metrics = { readonly indexer: { readonly unknown_contracts: number } };

test("a reporter that is not configured is named in the log and in readiness, and counted", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const blocks = buildBlocks(
    Array.from({ length: 40 }, (_, number) => ({
      logs: getLogs(25, number),
    })),
  );
  const node = await ScriptedNode.open({ blocks });
  node.setFinalized(10);
  node.setHead(20);
  const services: Service[] = [];
  cleanUp(t, async () => {
    for (const service of services) await service.kill9();
    await node.close();
    await rm(folder, { recursive: true });
  });
  const start = async (dataDir = join(folder, "data")): Promise<Service> => {
    const service = await Service.open({
      rpcUrls: [node.url],
      dataDir,
      settings: { ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder) },
    });
    services.push(service);
    return service;
  };
  const getDetail = async (service: Service) =>
    (await service.get<Ready>("/v1/ready")).checks.contracts;
  const first = await start();
  await first.waitFinalized(10);
  assert.deepEqual(await getDetail(first), { ok: true, detail: "known" });
  assert.equal((await first.get<Metrics>("/v1/metrics")).indexer.unknown_contracts, 0);

  const assertNoticed = async (service: Service, block: number): Promise<void> => {
    const detail = `not configured: reporter ${reporter} since block ${block}`;
    await waitFor(detail, async () => ((await getDetail(service)).detail === detail ? true : null));
    assert.equal((await getDetail(service)).ok, true);
    assert.equal((await service.get<Metrics>("/v1/metrics")).indexer.unknown_contracts, 1);
    const lines = service.stderr.split("\n").filter((line) => line.includes(reporter));
    assert.equal(lines.length, 1, service.stderr);
    assert.match(lines[0] ?? "", /contract is in use but not configured/);
  };
  const assertTexts = async (service: Service): Promise<void> => {
    const getQuestion = async (conditionId: ConditionId) => {
      const id = Object.values(texts).join(",");
      const { data } = await service.get<Markets>(`/v1/markets?condition_id=${id}&limit=100`);
      return data.find((row) => conditionId.startsWith(row.id))?.question ?? null;
    };
    await waitFor("the texts", () => getQuestion(texts.after));
    assert.deepEqual(await Promise.all(Object.values(texts).map(getQuestion)), [
      null,
      "Of generation 3",
      "Of generation 3",
    ]);
  };
  node.setHead(30);
  await assertNoticed(first, 25);
  await assertTexts(first);
  node.fork(
    buildBlocks(
      Array.from({ length: 20 }, (_, index) => ({
        logs: getLogs(35, 23 + index),
      })),
      { after: blocks[22], salt: "fork" },
    ),
  );
  node.setHead(42);
  await assertNoticed(first, 35);
  await assertTexts(first);
  node.setFinalized(40);
  await first.waitFinalized(40);
  await first.stop();
  for (const dataDir of [join(folder, "data"), join(folder, "backfilled")]) {
    const service = await start(dataDir);
    await service.waitFinalized(40);
    await assertNoticed(service, 35);
    await assertTexts(service);
    await service.stop();
  }
});
