import type { Address, Hash } from "../../src/base/ids.ts";
import { openLog } from "../../src/base/log.ts";
import type { OpenTransport } from "../../src/chain/rpc/transport.ts";
import { ChainSource } from "../../src/chain/sync/chain-source.ts";
import { ChainFollower } from "./chain-follower.ts";
import type { ScriptedBlock } from "./scripted-block.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimulatedClock } from "./simulated-clock.ts";

type Reader = {
  readonly clock: SimulatedClock;
  readonly openTransport: OpenTransport;
  readonly address: Address;
  readonly topic: Hash;
  readonly random: SeededRandom;
};

/** Reads a chain of final blocks from a single endpoint, in simulated time, and asserts that all of it was read. */
export async function readSimulatedChain(
  chain: readonly ScriptedBlock[],
  { clock, openTransport, address, topic, random }: Reader,
): Promise<void> {
  const opening = ChainSource.open(
    {
      urls: ["http://node.test"],
      chainId: 137,
      startBlock: 0,
      filter: { addresses: [address], topics0: [topic] },
      log: openLog({ level: "silent" }),
      clock,
      random: random.next,
      openTransport,
    },
    ({ blocks }) => blocks,
  );
  let source: ChainSource | null = null;
  void opening.then((opened) => (source = opened));
  await clock.run({ isOver: () => source !== null, limitMs: 600_000 });
  const opened = await opening;
  const follower = new ChainFollower(opened, 0);
  const last = chain.at(-1)?.number;
  await clock.run({ isOver: () => follower.finalized === last, limitMs: 3_600_000 });
  opened.close();
  follower.assertEquals(chain, () => true);
}
