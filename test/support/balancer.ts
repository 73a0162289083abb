/** HAProxy with the configuration that deploy/cluster ships. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { cleanUp } from "./clean-up.ts";
import { findFreePort } from "./free-port.ts";
import { waitFor } from "./wait-for.ts";

const balancer = "haproxy";

/** Whether the balancer is installed. */
export function hasBalancer(): boolean {
  return spawnSync(balancer, ["-v"]).status === 0;
}

/** Starts the balancer of deploy/cluster for nodes on these ports, waits until it is ready, and returns its URL. */
export async function openBalancer(t: TestContext, ports: readonly number[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-balancer-"));
  cleanUp(t, () => rm(folder, { recursive: true }));
  const shipped = new URL("../../deploy/cluster/config/haproxy.cfg", import.meta.url);
  const port = await findFreePort();
  const path = join(folder, "haproxy.cfg");
  await writeFile(path, getConfig(await readFile(shipped, "utf8"), port, ports));
  const child = spawn(balancer, ["-db", "-f", path], { stdio: ["ignore", "ignore", "inherit"] });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  cleanUp(t, async () => {
    process.off("exit", kill);
    kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const url = `http://127.0.0.1:${port}`;
  await waitFor("the balancer", async () => {
    assert.equal(child.exitCode, null);
    const response = await fetch(`${url}/v1/ready`).catch(() => null);
    return response?.status === 200 ? true : null;
  });
  return url;
}

/** The HTTP part of the shipped configuration, with the names and ports of the compose file replaced by local ones. */
function getConfig(shipped: string, port: number, ports: readonly number[]): string {
  const sections = shipped.split(/^(?=(?:global|defaults|resolvers|frontend|backend|listen)\b)/m);
  const ofHttp = sections.filter((text) => /^(?:global|defaults|frontend|backend)/.test(text));
  const local = ofHttp
    .join("\n")
    .replace("maxconn 20000", "maxconn 1000")
    .replace("init-addr none resolvers docker", "")
    .replace("bind :8080", `bind 127.0.0.1:${port}`);
  return ports.reduce((text, own, index) => {
    const name = `api-${index + 1}`;
    return text.replaceAll(`server ${name} ${name}:8080`, `server ${name} 127.0.0.1:${own}`);
  }, local);
}
