import type { Address, Hash } from "../../base/ids.ts";
import type { Block } from "../raw-log.ts";
import { deriveBloomBits } from "../verify/bloom.ts";
import { getTopic0 } from "./scanned-log.ts";

/** The logs that name further contracts: their addresses and first topic, and the index of the topic with the name. */
export type NamingLogs = {
  readonly addresses: ReadonlySet<Address>;
  readonly topic0: Hash;
  readonly topicIndex: number;
};

/** A contract that a log names, and the block of the first such log. */
export type NamedContract = { readonly address: Address; readonly block: number };

/**
 * Contracts whose logs are requested because the chain names them: from the first block that does, that block included.
 * So which logs are requested is a function of the chain alone, wherever ranges begin and end, and after a reorg.
 */
export class NamedContracts {
  readonly #naming: NamingLogs | null;
  readonly #configured: ReadonlySet<Address>;
  readonly #named = new Map<Address, { readonly block: number; readonly bloomBits: bigint }>();

  /** Contracts in `configured` are requested anyway. `null` for a chain that names none. */
  constructor(naming: NamingLogs | null, configured: ReadonlySet<Address>) {
    this.#naming = naming;
    this.#configured = configured;
  }

  get addresses(): Iterable<Address> {
    return this.#named.keys();
  }

  /** Each address with its bits in a bloom. */
  *bloomItems(): Iterable<readonly [Address, bigint]> {
    for (const [address, { bloomBits }] of this.#named) yield [address, bloomBits];
  }

  /** Whether logs of the contract are requested in any block. */
  has(address: Address): boolean {
    return this.#named.has(address);
  }

  /** The block from which on logs of the contract are requested; `null` when it is not named. */
  getFirstBlock(address: Address): number | null {
    return this.#named.get(address)?.block ?? null;
  }

  /** The contracts that the logs of these blocks name, each with the first block. */
  namedIn(blocks: readonly Block[]): readonly NamedContract[] {
    const naming = this.#naming;
    if (naming === null) return [];
    const first = new Map<Address, NamedContract>();
    for (const { number, logs } of blocks) {
      for (const log of logs) {
        if (getTopic0(log) !== naming.topic0 || !naming.addresses.has(log.address)) continue;
        const topic = log.topics[naming.topicIndex];
        const address = `0x${(topic ?? "").slice(-40)}` as Address;
        if (topic === undefined || this.#configured.has(address) || first.has(address)) continue;
        first.set(address, { address, block: number });
      }
    }
    return [...first.values()];
  }

  /**
   * Takes in which contracts the chain names from block `from` on. Returns whether that changes anything. If so, the logs of
   * these blocks must be read again.
   */
  replaceFrom(from: number, named: readonly NamedContract[]): boolean {
    const dropped = new Set<Address>();
    for (const [address, { block }] of this.#named) if (block >= from) dropped.add(address);
    const added = named.filter(
      ({ address }) =>
        !this.#configured.has(address) && (dropped.has(address) || !this.has(address)),
    );
    const isSame =
      added.length === dropped.size &&
      added.every(({ address, block }) => this.getFirstBlock(address) === block);
    for (const address of dropped) this.#named.delete(address);
    for (const { address, block } of added) {
      this.#named.set(address, { block, bloomBits: deriveBloomBits(address) });
    }
    return !isSame;
  }
}
