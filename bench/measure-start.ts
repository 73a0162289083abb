import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Service, type ServiceOptions } from "../test/support/service.ts";

/** A service that is ready, how long that took by the clock, and that and more in words. */
export type MeasuredStart = {
  readonly service: Service;
  readonly readyMs: number;
  readonly reported: string;
};

/** Starts the real service: from its first instruction to the first 200 of `/v1/ready`. */
export async function measureStart(options: ServiceOptions): Promise<MeasuredStart> {
  const startedAt = performance.now();
  const service = await Service.open(options);
  const listeningMs = performance.now() - startedAt;
  while ((await service.request("/v1/ready")).status !== 200) await pause(5);
  const readyMs = performance.now() - startedAt;
  const { cpuMs, rssMaxMb } = readUsage(service.pid);
  const reported =
    `listening after ${seconds(listeningMs)}, ready after ${seconds(readyMs)} (goal: 2 s at 20 M), ` +
    `${seconds(cpuMs)} of the processor, ${rssMaxMb} MB at the most${stepsIn(service.stderr)}`;
  return { service, readyMs, reported };
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** When its steps were done, as it has logged them. */
function stepsIn(log: string): string {
  const [, json] = /"done_at_ms":(\{[^}]*\})/.exec(log) ?? [];
  if (json === undefined) return "";
  const doneAtMs = Object.entries(JSON.parse(json) as Record<string, number>);
  return `\n   done after: ${doneAtMs.map(([step, ms]) => `${step} ${seconds(ms)}`).join(", ")}`;
}

/** What a process has used until now, as Linux counts it. */
export function readUsage(pid: number): { cpuMs: number; rssMaxMb: number } {
  const [, user, system] =
    /^(?:\S+ ){11}(\d+) (\d+) /.exec(
      readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, ""),
    ) ?? [];
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { cpuMs: (Number(user) + Number(system)) * 10, rssMaxMb: Math.round(Number(kib) / 1000) };
}
