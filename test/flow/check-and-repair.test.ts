/** The commands `check` and `repair` compare the store with a node and correct it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cli } from "../support/cli.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { on, wrongHeaders } from "../support/faults.ts";
import { assertRecordedTruth } from "../support/recorded/assert-recorded-truth.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { runCommand, runProgram } from "../support/run-command.ts";
import { type RpcLog, toQuantity } from "../support/scripted-block.ts";

const recording = readRecording("contracts-a");
const wrongBlock = recording.trades[0]?.block_number ?? 0;
const range = ["--from", String(wrongBlock - 20), "--to", String(wrongBlock + 20)];
/** The only line that the command prints. */
const isInUse =
  /^oddwire: another process is using the data directory \S+; stop it, or set another ODDWIRE_DATA_DIR\n$/;
const noAudit = { ODDWIRE_AUDIT_CALLS_PER_MINUTE: "0" };

test("check reports what differs, and repair corrects it", async (t) => {
  const stage = await serveRecording(t, recording);
  stage.node.fault(
    on("eth_getLogs", () => ({
      kind: "logs",
      change: (logs) => logs.filter((log) => Number(log.blockNumber) !== wrongBlock),
    })),
  );
  const service = await stage.startService([stage.node.url], noAudit);
  await service.waitFinalized(stage.head);
  const run = (words: readonly string[]) => runCommand(words, stage.commandSettings);
  for (const command of ["check", "repair"]) {
    const { code, stdout, stderr } = await run([command]);
    assert.deepEqual([code, stdout], [75, ""]);
    assert.match(stderr, isInUse);
  }
  assert.equal(await service.stop(), 0);

  const differs = await run(["check", ...range]);
  assert.equal(differs.code, 2, differs.stderr);
  assert.match(
    differs.stdout,
    new RegExp(`^block ${wrongBlock} log \\d+: order_filled of 0x[0-9a-f]{40} is missing$`, "m"),
  );
  for (const [command, redirection, code, message] of [
    ["check", "| head -1 > /dev/null", 2, null],
    ["check", "> /dev/full", 75, "oddwire: standard output cannot be written: "],
    ["check --json", "> /dev/full", 75, "oddwire: standard output cannot be written: "],
  ] as const) {
    const line = `"${process.execPath}" "${cli}" ${command} ${range.join(" ")} ${redirection}; exit \${PIPESTATUS[0]}`;
    const ended = await runProgram("bash", ["-c", line], stage.commandSettings);
    assert.equal(ended.code, code, `${command} ${redirection}: ${ended.stderr}`);
    if (message !== null) assert(ended.stderr.includes(message), ended.stderr);
  }
  const outside = await run(["check", "--from", "0", "--to", "99999999"]);
  assert.equal(outside.code, 2);
  assert.match(outside.stderr, /within what is stored: blocks \d+ to \d+ are stored/);
  const tooMany = await run(["check", "--parallel", "17"]);
  assert.deepEqual([tooMany.code, tooMany.stderr.includes("from 1 to 16")], [2, true]);
  const backwards = await run(["check", "--from", String(wrongBlock), "--to", `${wrongBlock - 1}`]);
  assert.equal(backwards.code, 2);
  assert.match(backwards.stderr, /--from \d+ is after --to \d+/);
  const repaired = await run(["repair", ...range]);
  assert.equal(repaired.code, 0, repaired.stderr);
  const equal = await run(["check", "--parallel", "8", "--json"]);
  assert.equal(equal.code, 0, equal.stderr);
  const reported = JSON.parse(equal.stdout) as { equal: boolean; facts: Record<string, unknown> };
  assert.ok(
    reported.equal && Object.keys(reported.facts).some((name) => name.endsWith(" order_filled")),
  );

  const times: number[] = [];
  stage.node.fault(() => {
    times.push(performance.now());
    return null;
  });
  const few = ["--from", String(wrongBlock - 3), "--to", String(wrongBlock + 3)];
  const callsPerSecond = 10;
  const budget = { ODDWIRE_RPC_CALLS_PER_SECOND: String(callsPerSecond) };
  const slow = await runCommand(["check", ...few], { ...stage.commandSettings, ...budget });
  assert.equal(slow.code, 0, slow.stderr);
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000;
  assert(times.length > 2 * callsPerSecond, "more calls than two seconds may have");
  assert(seconds > times.length / callsPerSecond - 2, "the budget of an endpoint is kept");

  const again = await stage.startService([stage.node.url], noAudit);
  await assertRecordedTruth(again, recording);
  // The lock of a process ends with it, however it ends.
  await again.kill9();
  const afterKill = await run(["check", ...range]);
  assert.equal(afterKill.code, 0, afterKill.stderr);
});

test("wrong times are corrected by the headers of the only node, also that of a last block without facts", async (t) => {
  const stage = await serveRecording(t, recording);
  const lies = [wrongBlock, stage.head].flatMap((number) => {
    const value = toQuantity((recording.blocks[number]?.timestamp ?? 0) + 1);
    const lie = { nth: 1, name: "timestamp", value };
    const change = (logs: readonly RpcLog[]) =>
      logs.map((log) =>
        Number(log.blockNumber) === number ? { ...log, blockTimestamp: value } : log,
      );
    return [
      stage.node.fault(wrongHeaders((block) => block === number, lie)),
      stage.node.fault(on("eth_getLogs", () => ({ kind: "logs", change }))),
    ];
  });
  // The tags name the last block.
  const value = toQuantity((recording.blocks[stage.head]?.timestamp ?? 0) + 1);
  const header = { ...recording.blocks[stage.head]?.header, timestamp: value };
  const lie = stage.node.fault(({ method, params }) => {
    if (method !== "eth_getBlockByNumber" || Number(params[0]) >= 0) return null;
    return { kind: "result", json: JSON.stringify(header) };
  });
  const service = await stage.startService([stage.node.url], noAudit);
  await service.waitFinalized(stage.head);
  assert.equal(await service.stop(), 0);
  for (const end of [lie, ...lies]) end();

  const run = (words: readonly string[]) => runCommand(words, stage.commandSettings);
  const differs = await run(["check"]);
  assert.equal(differs.code, 2, differs.stderr);
  assert.match(
    differs.stdout,
    new RegExp(`^block ${wrongBlock} log \\d+: order_filled of .* is different$`, "m"),
  );
  assert.match(
    differs.stdout,
    new RegExp(`^block ${stage.head}: its timestamp is different$`, "m"),
  );
  assert.doesNotMatch(differs.stdout, /not proven/);
  const repaired = await run(["repair"]);
  assert.equal(repaired.code, 0, repaired.stdout + repaired.stderr);
  const equal = await run(["check"]);
  assert.equal(equal.code, 0, equal.stdout);
  const again = await stage.startService([stage.node.url], noAudit);
  await assertRecordedTruth(again, recording);
});

test("with ODDWIRE_RPC_MINORITY=stop, check and repair say why they wait for a majority of the endpoints", async (t) => {
  const stage = await serveRecording(t, recording);
  const service = await stage.startService([stage.node.url], noAudit);
  await service.waitFinalized(stage.head);
  assert.equal(await service.stop(), 0);
  const endpoint = await CuttingProxy.open(t, stage.node.url);
  const urls = { ODDWIRE_RPC_URLS: `${stage.node.url},${endpoint.url}` };
  endpoint.refuse();
  const reason = `most endpoints have to answer, and ${new URL(endpoint.url).host} do not (ODDWIRE_RPC_MINORITY)`;
  for (const command of ["check", "repair"]) {
    let stderr = "";
    const { code } = await runCommand(
      [command, ...range],
      { ...stage.commandSettings, ...urls },
      (text) => {
        stderr += text;
        if (stderr.includes(reason)) endpoint.resume();
      },
    );
    assert.deepEqual([code, stderr.includes(reason)], [0, true], stderr);
    endpoint.refuse();
  }
});
