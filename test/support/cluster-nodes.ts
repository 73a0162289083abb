/** The processes of a cluster by name, and what tests do to them. */
import assert from "node:assert/strict";
import type { ClusterScene } from "./cluster-scene.ts";
import type { Service } from "./service.ts";
import { waitFor } from "./wait-for.ts";

const indexerNames = ["index-a", "index-b"];
const apiNames = ["api-a", "api-b", "api-c"] as const;
type ApiName = (typeof apiNames)[number];

/** Two indexers, one of them active, and three serving nodes. */
export class ClusterNodes {
  readonly #scene: ClusterScene;
  readonly #running = new Map<string, Service>();
  /** Addresses of processes that were killed. Requests to them can fail. */
  readonly #killed = new Set<string>();

  private constructor(scene: ClusterScene) {
    this.#scene = scene;
  }

  static async start(scene: ClusterScene): Promise<ClusterNodes> {
    const nodes = new ClusterNodes(scene);
    await nodes.restartKilled();
    return nodes;
  }

  /** The serving nodes that are running. */
  get apis(): readonly Service[] {
    return apiNames.flatMap((name) => this.#running.get(name) ?? []);
  }

  /** The address of a serving node, picked as a balancer would. */
  pickUrl(): string {
    return this.#scene.random.pick(this.apis).baseUrl;
  }

  wasKilled(url: string): boolean {
    return this.#killed.has(url);
  }

  /** Kills an indexer by its current role, or a serving node by its name. */
  async kill(which: "active" | "standby" | ApiName): Promise<void> {
    const isRole = which === "active" || which === "standby";
    const name = isRole ? await this.#indexer(which) : which;
    const service = this.#running.get(name);
    if (service === undefined) return;
    this.#running.delete(name);
    this.#killed.add(service.baseUrl);
    await service.kill9();
  }

  /** Starts all processes that are not running. */
  async restartKilled(): Promise<void> {
    this.#forgetEnded();
    const missing = [...indexerNames, ...apiNames].filter((name) => !this.#running.has(name));
    await Promise.all(missing.map((name) => this.#start(name)));
  }

  /** Forgets indexers that have ended, since a supervisor would restart them. Fails if another process has ended. */
  #forgetEnded(): readonly string[] {
    const ended = [...this.#running].filter(([, { exitCode }]) => exitCode !== null);
    return ended.map(([name, { exitCode, stderr }]) => {
      assert(indexerNames.includes(name) && exitCode === 75, `${name}: ${exitCode}\n${stderr}`);
      this.#running.delete(name);
      return name;
    });
  }

  /** Pauses the active indexer until the other one is active. */
  async pauseActive(): Promise<void> {
    const name = await this.#indexer("active");
    const service = this.#running.get(name);
    assert(service !== undefined, `${name} runs`);
    process.kill(service.pid, "SIGSTOP");
    try {
      await waitFor("another active indexer", async () => {
        const others = indexerNames.filter((other) => other !== name);
        return (await this.#standsBy(others[0] ?? "")) ? null : true;
      });
    } finally {
      process.kill(service.pid, "SIGCONT");
    }
  }

  /** Restarts all processes one after another, as in an upgrade: serving nodes, the standby, the active indexer. */
  async upgrade(): Promise<void> {
    for (const name of apiNames) await this.#upgrade(name);
    const standby = await this.#indexer("standby");
    await this.#upgrade(standby);
    for (const name of indexerNames) if (name !== standby) await this.#upgrade(name);
  }

  /** Restarts a process after it has answered its open requests; it gets no new ones meanwhile. */
  async #upgrade(name: string): Promise<void> {
    const service = this.#running.get(name);
    this.#running.delete(name);
    assert.equal(await service?.stop(), 0, service?.stderr);
    await this.#start(name);
  }

  async #start(name: string): Promise<void> {
    const role = indexerNames.includes(name) ? "index" : "api";
    const service = await this.#startPatiently(role, name);
    if (role === "api") await service.waitIndexed(this.#scene.chain.blocks[0]?.block.number ?? 0);
    this.#running.set(name, service);
  }

  /** Starts a process. An indexer exits without the store, and is then started again. */
  async #startPatiently(role: "index" | "api", name: string): Promise<Service> {
    return waitFor(`a start of ${name}`, async () => {
      try {
        return await this.#scene.start(role, name);
      } catch (thrown) {
        if (role === "index" && String((thrown as Error).cause).includes("exit code 75"))
          return null;
        throw thrown;
      }
    });
  }

  /** The name of the active indexer, or of the other one. */
  async #indexer(role: "active" | "standby"): Promise<string> {
    return waitFor("one active indexer", async () => {
      await Promise.all(this.#forgetEnded().map((name) => this.#start(name)));
      const standsBy = await Promise.all(indexerNames.map((name) => this.#standsBy(name)));
      const names = indexerNames.filter((_, index) => standsBy[index] === (role === "standby"));
      return names.length === 1 ? (names[0] ?? null) : null;
    });
  }

  /** Whether an indexer is on standby. A superseded one is briefly unavailable. */
  async #standsBy(name: string): Promise<boolean> {
    const asking = this.#running.get(name)?.request("/v1/ready");
    const answer = await asking?.catch(() => undefined);
    return "standby" in ((answer?.body as { checks?: object } | undefined)?.checks ?? {});
  }
}
