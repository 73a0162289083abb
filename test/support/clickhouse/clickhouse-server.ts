import { mkdtemp, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { cleanUp } from "../clean-up.ts";
import { findFreePort } from "../free-port.ts";
import { ServerProcess } from "../server-process.ts";
import { waitMsMax } from "../wait-for.ts";

const launcher = fileURLToPath(new URL("launch-server.py", import.meta.url));

/** A user with a password; the user `default` has none. */
export const passwordUser = { user: "oddwire", password: "a password" } as const;

/** A user with only the right to read, and no password. */
export const readingUser = "reader";

/** The name of the cluster that `openShards` forms. */
export const clusterName = "shards";

type Ports = { readonly http: number; readonly tcp: number };

/** Attempts to start: another process may have taken a port that was free. */
const startsMax = 5;
const outputCharsMax = 20_000;

/**
 * A real ClickHouse server on free ports of 127.0.0.1 with a temporary data directory. It is a separate process, which
 * ends with the test or with the test's process. For tests only: see `launch-server.py`.
 */
export class ClickHouseServer extends ServerProcess {
  readonly #ports: Ports;
  #output = "";

  private constructor(folder: string, ports: Ports) {
    super(folder);
    this.#ports = ports;
  }

  /** Starts one server with its folder in `parent`, and closes it after the test. */
  static async open(t: TestContext, parent?: string): Promise<ClickHouseServer> {
    const [server] = await ClickHouseServer.openAll(1, parent);
    if (server === undefined) throw new Error("no server was started");
    cleanUp(t, () => server.close());
    return server;
  }

  /** Starts servers as the shards of one cluster, `clusterName`, in this order. */
  static async openShards(t: TestContext, shards: number): Promise<readonly ClickHouseServer[]> {
    const servers = await ClickHouseServer.openAll(shards);
    cleanUp(t, () => Promise.all(servers.map((server) => server.close())));
    return servers;
  }

  /** Starts servers that the caller has to close. */
  static async openAll(shards: number, parent = tmpdir()): Promise<readonly ClickHouseServer[]> {
    for (let starts = 1; ; starts += 1) {
      const ports: Ports[] = [];
      for (let shard = 0; shard < shards; shard += 1) {
        ports.push({ http: await findFreePort(), tcp: await findFreePort() });
      }
      const servers = await Promise.all(
        ports.map(async (own) => {
          const folder = await mkdtemp(join(parent, "oddwire-clickhouse-"));
          return ClickHouseServer.#make(folder, own, ports);
        }),
      );
      try {
        await Promise.all(servers.map((server) => server.#start()));
        return servers;
      } catch (thrown) {
        for (const server of servers) await server.close();
        if (starts === startsMax) throw thrown;
      }
    }
  }

  static async #make(folder: string, own: Ports, all: readonly Ports[]): Promise<ClickHouseServer> {
    await writeFile(join(folder, "config.xml"), getConfig(all));
    await writeFile(join(folder, "users.xml"), users);
    return new ClickHouseServer(folder, own);
  }

  /** The address of its HTTP interface, which stays the same after a restart. */
  get url(): string {
    return `http://127.0.0.1:${this.#ports.http}`;
  }

  /** Kills the server if it runs, and starts it on the same ports and folder. */
  async restart(): Promise<void> {
    await this.kill();
    await this.#start();
  }

  /** Returns the result of a query as text; rejects with the server's error message. */
  async ask(sql: string): Promise<string> {
    const signal = AbortSignal.timeout(waitMsMax);
    const answer = await fetch(this.url, { method: "POST", body: sql, signal });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return text.trimEnd();
  }

  async #start(): Promise<void> {
    this.#output = "";
    // The server ends when the last pipe closes, which happens when this process ends.
    const stdio = ["ignore", "ignore", "pipe", "pipe"] as const;
    await this.launch([launcher, libraryPath(), ...this.#options()], [...stdio], {
      answers: () => this.#answers(),
      ended: () => `the ClickHouse server ended: ${this.#output}`,
    });
  }

  protected override observed(text: string): void {
    this.#output = (this.#output + text).slice(-outputCharsMax);
  }

  /** Checks that this server listens on the port, and not another one. */
  async #answers(): Promise<boolean> {
    try {
      return (await this.ask("SELECT path FROM system.disks")).startsWith(this.folder);
    } catch {
      return false;
    }
  }

  #options(): readonly string[] {
    return [
      `--config-file=${join(this.folder, "config.xml")}`,
      `--path=${join(this.folder, "data")}/`,
      "--listen_host=127.0.0.1",
      `--http_port=${this.#ports.http}`,
      `--tcp_port=${this.#ports.tcp}`,
    ];
  }
}

/** The platform's package is next to the package that depends on it. */
function libraryPath(): string {
  const chdb = createRequire(import.meta.resolve("chdb"));
  const glibc = process.platform === "linux" ? "-gnu" : "";
  const addon = chdb.resolve(`@chdb/lib-${process.platform}-${process.arch}${glibc}`);
  return join(dirname(addon), "libchdb.so");
}

function getConfig(shards: readonly Ports[]): string {
  const replicas = shards.map(
    ({ tcp }) =>
      `<shard><internal_replication>true</internal_replication>
      <replica><host>127.0.0.1</host><port>${tcp}</port></replica></shard>`,
  );
  return `<clickhouse>
  <logger><level>warning</level><console>true</console></logger>
  <users_config>users.xml</users_config>
  <remote_servers><${clusterName}>${replicas.join("\n")}</${clusterName}></remote_servers>
</clickhouse>`;
}

const users = `<clickhouse>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </default>
    <${passwordUser.user}>
      <password>${passwordUser.password}</password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </${passwordUser.user}>
    <${readingUser}>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants><query>GRANT SELECT ON *.*</query></grants>
    </${readingUser}>
  </users>
</clickhouse>`;
