/** A scripted node that serves a recording, and the service that indexes it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { polygonContracts } from "../../../src/contracts/polygon-contracts.ts";
import { readContracts } from "../../../src/roles/read-contracts.ts";
import { toIdentity } from "../../../src/storage/directory/identity.ts";
import { cleanUp } from "../clean-up.ts";
import { databaseOfFolder } from "../open-facts.ts";
import { ScriptedNode } from "../scripted-node.ts";
import { Service } from "../service.ts";
import type { Recording } from "./recording.ts";

export type Stage = {
  readonly node: ScriptedNode;
  readonly head: number;
  /** The data directory of the service. */
  readonly dataDir: string;
  /** Settings for commands on the same data directory. */
  readonly commandSettings: Readonly<Record<string, string>>;
  /** Starts the service on the same data directory; can be called repeatedly. By default it polls over HTTP. */
  readonly startService: (
    rpcUrls?: readonly string[],
    settings?: Readonly<Record<string, string>>,
  ) => Promise<Service>;
};

/** The creator of the questions of the first recording, an account that is not known on Polygon. */
const recordedCreator = "0x976EA74026E726554dB657fA54763abd0C3a0aa9";

/** The account that replaces UMA's reporter in the third recording. */
const recordedReporter = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";

/** Opens the node with the whole recording. Closes and removes everything after the test. */
export async function serveRecording(
  t: TestContext,
  recording: Recording<unknown>,
): Promise<Stage> {
  const node = await ScriptedNode.open({ blocks: recording.blocks });
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const services: Service[] = [];
  cleanUp(t, async () => {
    for (const service of services) {
      await service.kill9();
      if (!hasPassed(t)) console.error(service.stderr);
    }
    await node.close();
    await rm(folder, { recursive: true });
  });
  const contractsFile = join(folder, "contracts.json");
  await writeFile(contractsFile, JSON.stringify(recordedContracts()));
  const dataDir = join(folder, "data");
  const database = await databaseSettings(folder, contractsFile);
  return {
    node,
    head: recording.blocks.length - 1,
    dataDir,
    commandSettings: {
      ODDWIRE_RPC_URLS: node.url,
      ODDWIRE_CHAIN_ID: "137",
      ODDWIRE_DATA_DIR: dataDir,
      ODDWIRE_CONTRACTS_FILE: contractsFile,
      ...database,
    },
    startService: async (rpcUrls = [node.url], settings = {}) => {
      const service = await Service.open({
        rpcUrls,
        dataDir,
        settings: { ODDWIRE_CONTRACTS_FILE: contractsFile, ...database, ...settings },
      });
      services.push(service);
      return service;
    },
  };
}

/** The settings of the database that `ODDWIRE_TEST_ENGINE` asks for. */
async function databaseSettings(
  folder: string,
  contractsFile: string,
): Promise<Record<string, string>> {
  const identity = toIdentity(137, await readContracts({ contractsFile, wallets: "on" }));
  const place = await databaseOfFolder(folder, identity);
  if (place === null) return {};
  const { url, user, password, database, cluster } = place;
  return {
    ODDWIRE_CLICKHOUSE_URL: url,
    ODDWIRE_CLICKHOUSE_USER: user,
    ODDWIRE_CLICKHOUSE_PASSWORD: password,
    ODDWIRE_CLICKHOUSE_DATABASE: database,
    ...(cluster === null ? {} : { ODDWIRE_CLICKHOUSE_CLUSTER: cluster }),
  };
}

/** The contracts of the recordings: at their Polygon addresses but for one, on chains that start at block 0. */
function recordedContracts(): typeof polygonContracts {
  const { known_creators, contracts } = polygonContracts;
  const reporter = { kind: "oo_reporter" as const, address: recordedReporter };
  return {
    ...polygonContracts,
    known_creators: [...known_creators, recordedCreator],
    contracts: [...contracts, reporter].map((contract) => ({ ...contract, start_block: 0 })),
  };
}

/** Node passes the result to hooks that run after the test, but its type declarations lack it. */
function hasPassed(t: TestContext): boolean {
  return (t as TestContext & { readonly passed: boolean }).passed;
}
