/** A client that reads final trades from any node, each once, and never sees less than it has seen before. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "./service.ts";

/** Picks a node for each request. Requests to a killed node can fail. */
type Balancer = { pickUrl(): string; wasKilled(url: string): boolean };

const pauseMs = 40;

export class WanderingReader {
  readonly #balancer: Balancer;
  readonly #key: string;
  #isClosed = false;
  /** The ids of the trades it has read, oldest first. */
  readonly ids: string[] = [];
  /** The first failure. */
  failure: Error | null = null;
  answered = 0;
  refused = 0;
  #seq = 0;
  #indexedSeq = 0;
  readonly #running: Promise<void>;

  private constructor(balancer: Balancer, key: string) {
    this.#balancer = balancer;
    this.#key = key;
    this.#running = this.#run().catch((thrown: unknown) => {
      this.failure = thrown as Error;
    });
  }

  static start(balancer: Balancer, key: string): WanderingReader {
    return new WanderingReader(balancer, key);
  }

  /** Fails if a response was neither 200 nor 503 with `Retry-After`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    if (this.failure !== null) throw this.failure;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      const url = this.#balancer.pickUrl();
      const positions = `after_seq=${this.#seq}&min_seq=${this.#indexedSeq}`;
      const path = `/v1/trades?status=finalized&order=asc&limit=50&${positions}`;
      try {
        const response = await fetch(url + path, { headers: { "x-api-key": this.#key } });
        this.#take(response, await response.text());
      } catch (thrown) {
        if (thrown instanceof assert.AssertionError || !this.#balancer.wasKilled(url)) throw thrown;
      }
      await delay(pauseMs);
    }
  }

  #take({ status, headers }: Response, text: string): void {
    if (status === 503 && headers.has("retry-after")) {
      this.refused += 1;
      return;
    }
    assert.equal(status, 200, text);
    this.answered += 1;
    const { data, meta } = JSON.parse(text) as Page & { meta: { indexed_seq: number | null } };
    for (const { id, seq } of data) {
      assert(Number(seq) > this.#seq, `trade ${String(id)} comes in order, once`);
      this.#seq = Number(seq);
      this.ids.push(String(id));
    }
    this.#indexedSeq = meta.indexed_seq ?? 0;
  }
}
