import { serverLimits } from "../../base/config/limits.ts";
import { AppError, toError } from "../../base/errors.ts";
import { systemClock } from "../../base/time/clock.ts";
import type { Engine } from "../engine/engine.ts";
import { readCoverage, verifyNewestCommits } from "../recovery/recover.ts";
import { getTableNames } from "../schema/schema.ts";
import { getTarget } from "../schema/schema-target.ts";
import { type Check, clusterChecks } from "./check-cluster.ts";
import { type Database, refuseOldServer, refuseOtherDatabase } from "./prepare-database.ts";

/** The result of one check: what is wrong, in one sentence; `null` when nothing is. */
export type Finding = { readonly subject: string; readonly problem: string | null };

/** Runs all checks of a database on a server, also after some have failed. */
export async function checkDatabase(engine: Engine, given: Database): Promise<readonly Finding[]> {
  const target = getTarget(given);
  const checks: readonly Check[] = [
    ["version", () => refuseOldServer(engine)],
    ["clock", () => refuseOtherClock(engine)],
    ["tables", () => refuseMissingTables(engine)],
    ["identity", () => refuseOtherDatabase(engine, given)],
    ...(target.kind === "cluster" ? clusterChecks(engine, target) : []),
    ["coverage", () => readCoverage(engine)],
    ["newest commits", () => verifyNewestCommits(engine)],
  ];
  const findings: Finding[] = [];
  for (const [subject, work] of checks) {
    const problem = await work().then(
      () => null,
      (thrown: unknown) => toSentence(toError(thrown)),
    );
    findings.push({ subject, problem });
  }
  return findings;
}

/** Returns the message for operators: the cause of an `AppError`, which clients do not see. */
function toSentence(error: Error): string {
  return error instanceof AppError && error.cause instanceof Error
    ? error.cause.message
    : error.message;
}

async function refuseOtherClock(engine: Engine): Promise<void> {
  const requestedAtMs = systemClock.nowMs();
  const [row] = await engine.query("SELECT toUnixTimestamp64Milli(now64(3))");
  const serverMs = Number(row?.[0]);
  const answeredAtMs = systemClock.nowMs();
  const { clockDifferenceMs } = serverLimits;
  if (
    serverMs >= requestedAtMs - clockDifferenceMs &&
    serverMs <= answeredAtMs + clockDifferenceMs
  ) {
    return;
  }
  const seconds = Math.round((serverMs - answeredAtMs) / 1000);
  throw new Error(`the server's clock differs from ours by ${seconds} s`);
}

/** Checks that all tables exist and have a deduplication window, without which a retry would store rows twice. */
async function refuseMissingTables(engine: Engine): Promise<void> {
  const rows = await engine.query(
    "SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase()",
  );
  const existing = new Map(rows.map(([name, sql]) => [String(name), String(sql)]));
  const names = getTableNames(engine);
  const missing = names.filter((name) => !existing.has(name));
  if (missing.length > 0) throw new Error(`missing: ${missing.join(", ")}`);
  const isWindowed = /deduplication_window = [1-9]|Distributed\(/;
  const without = names.filter((name) => !isWindowed.test(existing.get(name) ?? ""));
  if (without.length > 0) throw new Error(`without a deduplication window: ${without.join(", ")}`);
}
