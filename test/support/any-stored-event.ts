import * as fc from "fast-check";
import { isStoredEvent, type StoredEvent } from "../../src/contracts/events.ts";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { getAbis } from "./event-abis.ts";
import { anyLog } from "./generate-event-logs.ts";
import { knownContracts } from "./recorded-chain.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const sources = [...contracts.byAddress.values()].flatMap((contract) =>
  getAbis(contract).map(({ item }) => ({ contract, item })),
);

/** Any event that a log of the known contracts can decode to and that is stored, of every kind. */
export const anyStoredEvent: fc.Arbitrary<StoredEvent> = fc
  .constantFrom(...sources)
  .chain(({ contract, item }) => anyLog(item, contract.address))
  .map((log) => decoder.decode(log)?.event)
  .filter((event) => event !== undefined)
  .filter(isStoredEvent);
