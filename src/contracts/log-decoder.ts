import type { Address, Hash } from "../base/ids.ts";
import type { LogText } from "../chain/parse/log-text.ts";
import { NamedContracts, type NamingLogs } from "../chain/parse/named-contracts.ts";
import { getTopic0, toText } from "../chain/parse/scanned-log.ts";
import type { RawLog } from "../chain/raw-log.ts";
import type { RequestedLogs } from "../chain/verify/log-filter.ts";
import type { Contract, Contracts } from "./contracts.ts";
import type { Decoder } from "./decoder.ts";
import { exchangeAdminDecoders, pauseDecoders } from "./events/exchange-admin-events.ts";
import { exchangeV1Decoders } from "./events/exchange-v1-events.ts";
import { exchangeV2Decoders, exchangeV3Decoders } from "./events/exchange-v2-events.ts";
import { upgradeDecoder } from "./events/gen3-market-events.ts";
import { positionDecoders } from "./events/position-events.ts";
import type { ChainEvent } from "./events.ts";
import { otherDecoders } from "./other-decoders.ts";
import { getDataBytes } from "./words.ts";

/** A decoded log with the contract that emitted it. */
export type DecodedLog = {
  readonly log: RawLog;
  readonly contract: Contract;
  readonly event: ChainEvent;
};

/** Decodes logs by address, topic0, number of topics and data length, because generations share topic0 hashes. */
export class LogDecoder {
  /**
   * The filter for `eth_getLogs`: all addresses with decoders, and every topic0 that has a decoder. Reporters that the
   * aggregator of Protocol V2 names are decoded like the configured ones, from the first block that names them.
   */
  readonly filter: Required<RequestedLogs>;
  /** Every decoded event, as the text of its contract address and topic0; sorted. */
  readonly events: readonly string[];
  readonly contracts: Contracts;
  readonly #sources: ReadonlyMap<Address, Source>;

  constructor(contracts: Contracts) {
    this.contracts = contracts;
    const sources = [...contracts.byAddress.values()]
      .map((contract) => getSource(contract, contracts))
      .filter(({ decoders }) => decoders.size > 0);
    this.#sources = new Map(sources.map((source) => [source.contract.address, source]));
    this.filter = {
      addresses: [...this.#sources.keys()],
      topics0: [...new Set(sources.flatMap(({ decoders }) => [...decoders.keys()]))],
      named: new NamedContracts(
        namingLogs([...contracts.byAddress.values()]),
        new Set(contracts.byAddress.keys()),
      ),
    };
    this.events = sources
      .flatMap(({ contract, decoders }) =>
        [...decoders.keys()].map((topic0) => `${contract.address} ${topic0}`),
      )
      .toSorted();
  }

  /**
   * Decodes one log; `null` for a log of another contract or of an event without a decoder.
   * A known event of the wrong shape, or with values that its rules forbid, is `undecodable`.
   */
  decode(log: RawLog): DecodedLog | null {
    const topic0 = getTopic0(log);
    const source = this.#sources.get(log.address) ?? this.#sourceOfNamed(log);
    if (topic0 === undefined || source === undefined) return null;
    const decoder = source.decoders.get(topic0);
    if (decoder === undefined) return null;
    const text = toText(log);
    const event = hasShape(text, decoder) ? decoder.read(text, log.address) : wrongShape;
    return { log, contract: source.contract, event };
  }

  #sourceOfNamed({ address, blockNumber }: RawLog): Source | undefined {
    const startBlock = this.filter.named.getFirstBlock(address);
    if (startBlock === null || startBlock > blockNumber) return undefined;
    return getSource({ kind: "oo_reporter", address, startBlock }, this.contracts);
  }
}

/** The logs that name reporters; `null` without an aggregator. */
function namingLogs(contracts: readonly Contract[]): NamingLogs | null {
  const aggregators = contracts.filter(({ kind }) => kind === "oracle_aggregator");
  const decoders = otherDecoders.oracle_aggregator;
  const added = decoders.find(({ signature }) => signature.startsWith("ReporterModuleAdded("));
  if (aggregators.length === 0 || added === undefined) return null;
  const addresses = new Set(aggregators.map(({ address }) => address));
  return { addresses, topic0: added.topic0, topicIndex: 2 };
}

/** A contract and the decoders of its events by topic0. */
type Source = { readonly contract: Contract; readonly decoders: ReadonlyMap<Hash, Decoder> };

function getSource(contract: Contract, contracts: Contracts): Source {
  const decoders = getDecoders(contract, contracts).map(
    (decoder) => [decoder.topic0, decoder] as const,
  );
  return { contract, decoders: new Map(decoders) };
}

const wrongShape: ChainEvent = {
  kind: "undecodable",
  reason: "number of topics or data length is not that of the event",
};

function hasShape(text: LogText, decoder: Decoder): boolean {
  if (text.topicCount !== decoder.topicCount) return false;
  const bytes = getDataBytes(text);
  return typeof decoder.dataBytes === "number"
    ? bytes === decoder.dataBytes
    : bytes >= decoder.dataBytes.min && bytes % 32 === 0;
}

const exchangeDecoders = {
  1: [...exchangeV1Decoders, ...exchangeAdminDecoders],
  2: [...exchangeV2Decoders, ...exchangeAdminDecoders],
  3: [...exchangeV3Decoders, ...pauseDecoders, upgradeDecoder],
} as const;

/** Returns the decoders of all events of a contract; without wallets, those of positions are left out. */
export function getDecoders(
  contract: Contract,
  { wallets }: Pick<Contracts, "wallets"> = { wallets: true },
): readonly Decoder[] {
  if (contract.kind === "exchange") return exchangeDecoders[contract.generation];
  const positions = wallets ? (positionDecoders[contract.kind] ?? []) : [];
  return [...otherDecoders[contract.kind], ...positions];
}
