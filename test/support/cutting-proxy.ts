import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { cleanUp } from "./clean-up.ts";

/** A TCP proxy on a free port that can lose responses, stop responding, and refuse connections. */
export class CuttingProxy {
  readonly #server = createServer((client) => this.#join(client));
  #target: URL;
  readonly #sockets = new Set<Socket>();
  #cutsLeft = 0;
  #cuts = 0;
  #state: "open" | "stalled" | "refusing" = "open";

  private constructor(target: URL) {
    this.#target = target;
  }

  static async open(t: TestContext, targetUrl: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(new URL(targetUrl));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    cleanUp(t, () => {
      for (const socket of proxy.#sockets) socket.destroy();
      proxy.#server.close();
    });
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many responses it has lost. */
  get cuts(): number {
    return this.#cuts;
  }

  /** Closes the connection instead of sending the next `count` responses. The server has executed the requests. */
  cutAnswers(count: number): void {
    this.#cutsLeft = count;
  }

  /** Leaves connections open without responses, until `resume`. */
  stall(): void {
    this.#state = "stalled";
    for (const socket of this.#sockets) socket.pause();
  }

  /** Closes all open and new connections, until `resume`. */
  refuse(): void {
    this.#state = "refusing";
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Leads new connections to another address. Closes the open ones unless they are kept. */
  leadTo(targetUrl: string, { isKept = false }: { readonly isKept?: boolean } = {}): void {
    this.#target = new URL(targetUrl);
    if (!isKept) for (const socket of this.#sockets) socket.destroy();
  }

  resume(): void {
    this.#state = "open";
    for (const socket of this.#sockets) socket.resume();
  }

  #join(client: Socket): void {
    if (this.#state === "refusing") {
      client.destroy();
      return;
    }
    const server = connect({ host: this.#target.hostname, port: Number(this.#target.port) });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (question) => server.write(question));
    server.on("data", (answer) => {
      if (this.#cutsLeft === 0) {
        client.write(answer);
        return;
      }
      this.#cutsLeft -= 1;
      this.#cuts += 1;
      client.resetAndDestroy();
    });
    if (this.#state === "stalled") for (const socket of [client, server]) socket.pause();
  }
}
