/** Runs in the chain thread: derives changes and posts them, at most `changesAheadMax` ahead of the main thread. */
import { once } from "node:events";
import { flushCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { chainLimits } from "../base/config/limits.ts";
import { toError } from "../base/errors.ts";
import { openLog } from "../base/log.ts";
import { ChainSource, type Resumption } from "../chain/sync/chain-source.ts";
import { LogDecoder } from "../contracts/log-decoder.ts";
import type { ChainThreadOptions, FromChainThread, ToChainThread } from "./chain-thread.ts";
import { type ChainChange, type Derivation, deriveChanges, encodeFinal } from "./change.ts";
import { type FactsRequest, rereadFacts } from "./reread-facts.ts";

const statusEveryMs = 250;

const port = parentPort;
assert(port !== null, "this file is run as a thread");
const options = workerData as ChainThreadOptions;
const decoder = new LogDecoder(options.contracts);
let ahead = 0;

try {
  const source = await ChainSource.open(
    {
      ...options,
      filter: decoder.filter,
      log: openLog({ level: options.logLevel }),
    },
    async (range, release) => {
      const batch = await encodeFinal(range, derivation);
      release();
      return batch;
    },
  );
  const derivation: Derivation = {
    decoder,
    prove: (block, isFinal) => source.prove(block, isFinal),
  };
  // An error that is not an endpoint's is a bug and ends the thread.
  const reread = async (request: FactsRequest): Promise<void> =>
    post({ kind: "reread", reading: await rereadFacts({ source, decoder }, request) });
  const following = Promise.withResolvers<Resumption>();
  // Messages that came before are received now.
  port.on("message", (message: ToChainThread) => {
    if (message.kind === "follow") {
      decoder.filter.named.replaceFrom(0, message.named);
      following.resolve(message);
    } else if (message.kind === "reread") void reread(message.request);
    else if (message.kind === "close") source.close();
    else if (message.kind === "taken") ahead -= 1;
  });
  post({ kind: "status", status: source.status });
  // Writes the compile cache now, so that a start after a crash can use it.
  flushCompileCache();
  const timer = setInterval(() => post({ kind: "status", status: source.status }), statusEveryMs);
  const batches = source.batches(await following.promise);
  for await (const change of deriveChanges(batches, derivation)) {
    ahead += 1;
    post({ kind: "change", change, status: source.status }, toBuffers(change));
    while (ahead >= chainLimits.changesAheadMax) await once(port, "message");
  }
  clearInterval(timer);
} catch (thrown) {
  const error = toError(thrown);
  post({ kind: "failed", name: error.name, error });
}

function post(message: FromChainThread, transfer: readonly ArrayBuffer[] = []): void {
  port?.postMessage(message, [...transfer]);
}

/** The buffers to transfer to the main thread instead of copying them. */
function toBuffers(change: ChainChange): ArrayBuffer[] {
  if (change.kind !== "range") return [];
  return Object.values(change.batch.rows).map(({ buffer }) => buffer as ArrayBuffer);
}
