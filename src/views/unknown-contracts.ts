/** Contracts that the venue has put in use, but that are not configured: the texts, results or forms of events may be new. */
import { type Address, toBlockNumber } from "../base/ids.ts";
import type { Contracts } from "../contracts/contracts.ts";
import type { Gen3MarketEvent } from "../contracts/events.ts";
import type { LocatedEvent } from "../market/block-facts.ts";
import { JournaledMap } from "./disk/journaled-map.ts";
import type { StateStore } from "./disk/state-store.ts";

export type UnknownContract = {
  readonly address: Address;
  readonly role: "reporter" | "module" | "implementation";
  /** The contract whose log names it: for an implementation, its proxy. */
  readonly namedBy: Address;
  readonly block: number;
};

/** How many are kept. After the first ones it is clear that the list of contracts is out of date. */
const contractsMax = 100;

export class UnknownContracts {
  readonly #contracts: Contracts;
  readonly #found: JournaledMap<"all", readonly UnknownContract[]>;

  constructor(contracts: Contracts, stateStore: StateStore) {
    this.#contracts = contracts;
    this.#found = new JournaledMap(stateStore, "unknown_contracts");
  }

  /** In the order in which the chain named them first. */
  get all(): readonly UnknownContract[] {
    return this.#found.get("all") ?? [];
  }

  /** Applies one event. Most name no contract. */
  apply(event: Gen3MarketEvent, { address: namedBy, seq }: LocatedEvent): void {
    const { byAddress, knownImplementations } = this.#contracts;
    const block = toBlockNumber(seq);
    if (event.kind === "gen3_reporter_added" && !byAddress.has(event.reporter)) {
      this.#add({ address: event.reporter, role: "reporter", namedBy, block });
    }
    if (event.kind === "gen3_module_added" && !byAddress.has(event.module)) {
      this.#add({ address: event.module, role: "module", namedBy, block });
    }
    if (
      event.kind === "gen3_contract_upgraded" &&
      !knownImplementations.has(event.implementation)
    ) {
      this.#add({ address: event.implementation, role: "implementation", namedBy, block });
    }
  }

  #add(found: UnknownContract): void {
    const { all } = this;
    const isNew = !all.some(({ address }) => address === found.address);
    if (isNew && all.length < contractsMax) this.#found.set("all", [...all, found]);
  }
}
