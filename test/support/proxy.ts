/** Reverse proxies with the configurations that deploy/proxies ships. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { readText } from "../tidy/project-files.ts";
import { cleanUp } from "./clean-up.ts";
import { findFreePort } from "./free-port.ts";
import { waitFor } from "./wait-for.ts";

export const proxies = ["nginx", "caddy", "haproxy"] as const;
export type Proxy = (typeof proxies)[number];

/** Why tests with a proxy cannot run here; `false` if they can. In CI they must run. */
export function skipsProxy(proxy: Proxy): string | false {
  const isThere = spawnSync(proxy, [proxy === "caddy" ? "version" : "-v"]).status === 0;
  return isThere || process.env["CI"] !== undefined ? false : `NOT TESTED: there is no ${proxy}`;
}

/**
 * Starts a proxy in front of a service, with its shipped configuration but for the addresses and TLS, and returns its URL
 * when it accepts connections. It serves the service at the root and below `/oddwire/`.
 */
export async function openProxy(t: TestContext, proxy: Proxy, service: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-proxy-"));
  const port = await findFreePort();
  const { config, args } = getConfig(proxy, { folder, port, service: new URL(service).host });
  const path = join(folder, "config");
  await writeFile(path, config);
  const child = spawn(proxy, [...args, path], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      XDG_DATA_HOME: folder,
    },
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  cleanUp(t, async () => {
    process.off("exit", kill);
    kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    await rm(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await waitFor(`${proxy} to listen`, async () => {
    assert.equal(child.exitCode, null, stderr);
    return fetch(`${url}/v1/health`).catch(() => null);
  });
  return url;
}

type Place = { readonly folder: string; readonly port: number; readonly service: string };

function getConfig(proxy: Proxy, { folder, port, service }: Place) {
  switch (proxy) {
    case "nginx": {
      const server = replaceAll(readText("deploy/proxies/nginx.conf"), [
        ["127.0.0.1:8080", service],
        ["listen 443 ssl;", `listen 127.0.0.1:${port};`],
        [/^ +ssl_.*$/gm, ""],
      ]);
      const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      const http = `http { access_log off; ${places.join(" ")}\n${server}}`;
      const main = `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}`;
      return { config: `${main}\n${http}`, args: ["-e", "stderr", "-c"] };
    }
    case "caddy": {
      const site = replaceAll(readText("deploy/proxies/Caddyfile"), [
        ["127.0.0.1:8080", service],
        [/^oddwire\.example\.com /m, `http://127.0.0.1:${port} `],
      ]);
      const args = ["run", "--adapter", "caddyfile", "--config"];
      return { config: `{\n\tadmin off\n}\n${site}`, args };
    }
    case "haproxy": {
      const config = replaceAll(readText("deploy/proxies/haproxy.cfg"), [
        ["127.0.0.1:8080", service],
        ["maxconn 20000", "maxconn 1000"],
        [/bind :443 .*/, `bind 127.0.0.1:${port}`],
      ]);
      return { config, args: ["-db", "-f"] };
    }
  }
}

function replaceAll(text: string, pairs: readonly (readonly [string | RegExp, string])[]): string {
  return pairs.reduce((changed, [from, to]) => {
    assert.notEqual(changed.replace(from, to), changed, String(from));
    return changed.replace(from, to);
  }, text);
}
