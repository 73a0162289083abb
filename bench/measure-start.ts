import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Service, type ServiceOptions } from "../test/support/service.ts";

/** A ready service, the milliseconds that its start took, and a summary in words. */
export type MeasuredStart = {
  readonly service: Service;
  readonly readyMs: number;
  readonly reported: string;
};

/** Starts the real service. Measures from the start of the process to the first 200 of `/v1/ready`. */
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

/** The times of the steps of the start, as logged. */
function stepsIn(log: string): string {
  const [, json] = /"done_at_ms":(\{[^}]*\})/.exec(log) ?? [];
  if (json === undefined) return "";
  const doneAtMs = Object.entries(JSON.parse(json) as Record<string, number>);
  return `\n   done after: ${doneAtMs.map(([step, ms]) => `${step} ${seconds(ms)}`).join(", ")}`;
}

/** Processor time and peak memory of a process so far, as Linux counts them. */
function readUsage(pid: number): { cpuMs: number; rssMaxMb: number } {
  const [, user, system] =
    /^(?:\S+ ){11}(\d+) (\d+) /.exec(
      readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, ""),
    ) ?? [];
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { cpuMs: (Number(user) + Number(system)) * 10, rssMaxMb: Math.round(Number(kib) / 1000) };
}
