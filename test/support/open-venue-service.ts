import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Block } from "../../src/chain/raw-log.ts";
import { cleanUp } from "./clean-up.ts";
import { writeContractsFile } from "./contracts-file.ts";
import { scriptBlocks } from "./script-blocks.ts";
import { ScriptedNode } from "./scripted-node.ts";
import { ScriptedVenue } from "./scripted-venue.ts";
import { Service } from "./service.ts";

/** Opens a venue and a node with final blocks. `open` starts services, one after the other, in one data directory. */
export async function openVenueService(t: TestContext, blocks: readonly Block[]) {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const services: Service[] = [];
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  const venue = await ScriptedVenue.open();
  cleanUp(t, () => venue.close());
  const node = await ScriptedNode.open({ blocks: scriptBlocks(blocks) });
  cleanUp(t, () => node.close());
  cleanUp(t, () => Promise.all(services.map((service) => service.kill9())));
  node.setFinalized(blocks.at(-1)?.number ?? 0);
  const common = {
    ...venue.settings,
    ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
    ODDWIRE_START_BLOCK: String(blocks[0]?.number),
    // The blocks of the test chain are old.
    ODDWIRE_READY_MAX_LAG_SECONDS: "86400",
  };
  const dataDir = join(folder, "data");
  const open = async (more: Readonly<Record<string, string>> = {}) => {
    const settings = { ...common, ...more };
    const service = await Service.open({ rpcUrls: [node.url], dataDir, settings });
    services.push(service);
    return service;
  };
  return { venue, open };
}
