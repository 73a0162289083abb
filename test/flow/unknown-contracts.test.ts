/** Contracts that the venue puts in use, but that are not configured, are noticed by the running service. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { buildBlocks } from "../support/build-blocks.ts";
import { cleanUp } from "../support/clean-up.ts";
import { writeContractsFile } from "../support/contracts-file.ts";
import { ScriptedNode } from "../support/scripted-node.ts";
import { Service } from "../support/service.ts";
import { addedReporter } from "../support/test-markets.ts";
import { waitFor } from "../support/wait-for.ts";

const reporter = `0x${"e7".repeat(20)}`;

type Ready = { readonly checks: { readonly contracts: { readonly ok: boolean; detail: string } } };
type Metrics = { readonly indexer: { readonly unknown_contracts: number } };

test("a reporter that is not configured is named in the log and in readiness, and counted", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const blocks = buildBlocks(
    Array.from({ length: 40 }, (_, number) => ({
      logs: number === 25 ? [addedReporter(reporter)] : [],
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
  const start = async (): Promise<Service> => {
    const service = await Service.open({
      rpcUrls: [node.url],
      dataDir: join(folder, "data"),
      settings: { ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder) },
    });
    services.push(service);
    return service;
  };
  const detailOf = async (service: Service) =>
    (await service.get<Ready>("/v1/ready")).checks.contracts;
  const first = await start();
  await first.waitFinalized(10);
  assert.deepEqual(await detailOf(first), { ok: true, detail: "known" });
  assert.equal((await first.get<Metrics>("/v1/metrics")).indexer.unknown_contracts, 0);

  const assertNoticed = async (service: Service, block: number): Promise<void> => {
    const detail = `not configured: reporter ${reporter} since block ${block}`;
    await waitFor(detail, async () => ((await detailOf(service)).detail === detail ? true : null));
    assert.equal((await detailOf(service)).ok, true);
    assert.equal((await service.get<Metrics>("/v1/metrics")).indexer.unknown_contracts, 1);
    const lines = service.stderr.split("\n").filter((line) => line.includes(reporter));
    assert.equal(lines.length, 1, service.stderr);
    assert.match(lines[0] ?? "", /a contract is in use that is not configured/);
  };
  node.setHead(30);
  await assertNoticed(first, 25);
  node.fork(
    buildBlocks(
      Array.from({ length: 20 }, (_, index) => ({
        logs: index === 12 ? [addedReporter(reporter)] : [],
      })),
      { after: blocks[22], salt: "fork" },
    ),
  );
  node.setHead(42);
  await assertNoticed(first, 35);
  node.setFinalized(40);
  await first.waitFinalized(40);
  await first.stop();
  const second = await start();
  await second.waitFinalized(40);
  await assertNoticed(second, 35);
});
