import {
  type Address,
  type Client,
  createClient,
  type Hex,
  type HttpTransport,
  http,
  rpcSchema,
} from "viem";

export type Transaction = {
  readonly from: Address;
  /** `null` deploys a contract. */
  readonly to: Address | null;
  readonly data: Hex;
};

type Schema = [
  { Method: "eth_sendTransaction"; Parameters: [Record<string, string>]; ReturnType: Hex },
  { Method: "evm_mine"; Parameters: [{ timestamp: number }]; ReturnType: unknown },
  {
    Method: "eth_getBlockByNumber";
    Parameters: ["latest", false];
    ReturnType: { readonly timestamp: Hex };
  },
  {
    Method: "eth_getBlockReceipts";
    Parameters: ["latest"];
    ReturnType: readonly { readonly transactionHash: Hex; readonly status: Hex }[];
  },
];

type Rpc = Client<HttpTransport, undefined, undefined, Schema>;

/** A busy machine can take long to mine a large block. */
const requestMsMax = 120_000;

/** Far more than any call of the demo needs. Without it anvil would run each call twice to estimate its gas. */
const gas = "0xe00000";

/** Sends transactions to anvil and mines its blocks. */
export class DemoChain {
  readonly #rpc: Rpc;
  #headSeconds: number;
  #pending = 0;

  private constructor(rpc: Rpc, headSeconds: number) {
    this.#rpc = rpc;
    this.#headSeconds = headSeconds;
  }

  static async open(url: string): Promise<DemoChain> {
    // A transaction that is sent again after a timeout would be executed twice.
    const transport = http(url, { retryCount: 0, timeout: requestMsMax });
    const rpc = createClient({ transport, rpcSchema: rpcSchema<Schema>() });
    const head = await rpc.request({ method: "eth_getBlockByNumber", params: ["latest", false] });
    return new DemoChain(rpc, Number(head.timestamp));
  }

  /** Queues a transaction for the next block. Transactions keep the order in which they are sent. */
  async send({ from, to, data }: Transaction): Promise<void> {
    const call = { from, data, gas, gasPrice: "0x0" };
    const params = to === null ? call : { ...call, to };
    await this.#rpc.request({ method: "eth_sendTransaction", params: [params] });
    this.#pending += 1;
  }

  /**
   * Mines a block of all queued transactions, at `seconds`, or one second after the previous block if that is later.
   * Throws if a transaction failed: none that the demo sends can fail.
   */
  async mine(seconds: number): Promise<void> {
    const timestamp = Math.max(Math.floor(seconds), this.#headSeconds + 1);
    await this.#rpc.request({ method: "evm_mine", params: [{ timestamp }] });
    this.#headSeconds = timestamp;
    const receipts = await this.#rpc.request({
      method: "eth_getBlockReceipts",
      params: ["latest"],
    });
    const failed = receipts.find((receipt) => receipt.status !== "0x1");
    if (failed !== undefined) throw new Error(`transaction ${failed.transactionHash} failed`);
    if (receipts.length !== this.#pending) {
      throw new Error(
        `${this.#pending} transactions were sent, ${receipts.length} are in the block`,
      );
    }
    this.#pending = 0;
  }
}
