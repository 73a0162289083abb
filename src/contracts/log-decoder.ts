import type { Address, Hash } from "../base/ids.ts";
import type { LogText } from "../chain/parse/log-text.ts";
import { textOf, topic0Of } from "../chain/parse/scanned-log.ts";
import type { RawLog } from "../chain/raw-log.ts";
import type { Contract, Contracts } from "./contracts.ts";
import type { Decoder } from "./decoder.ts";
import { exchangeAdminDecoders, pauseDecoders } from "./events/exchange-admin-events.ts";
import { exchangeV1Decoders } from "./events/exchange-v1-events.ts";
import { exchangeV2Decoders, exchangeV3Decoders } from "./events/exchange-v2-events.ts";
import { feeModuleDecoders } from "./events/fee-module-events.ts";
import {
  binaryModuleDecoders,
  combinatorialModuleDecoders,
  negRiskModuleDecoders,
  ooReporterDecoders,
  oracleAggregatorDecoders,
} from "./events/gen3-market-events.ts";
import {
  conditionalTokensDecoders,
  negRiskAdapterDecoders,
  negRiskOperatorDecoders,
  umaAdapterDecoders,
  umaAdapterV1Decoders,
} from "./events/market-events.ts";
import type { ChainEvent } from "./events.ts";
import { HexMap } from "./hex-map.ts";
import { dataBytesOf } from "./words.ts";

/** A decoded log with the contract that emitted it. */
export type DecodedLog = {
  readonly log: RawLog;
  readonly contract: Contract;
  readonly event: ChainEvent;
};

/** Decodes logs by (address, topic0, number of topics, data length): generations share hashes. */
export class LogDecoder {
  /** What to ask a node for: all configured addresses, and every topic0 that has a decoder. */
  readonly filter: { readonly addresses: readonly Address[]; readonly topics0: readonly Hash[] };
  /** Every event that is decoded, as its contract and topic0; sorted. */
  readonly events: readonly string[];
  readonly #sources: HexMap<Address, Source>;

  constructor(contracts: Contracts) {
    const all = [...contracts.byAddress.values()];
    const speaking = all.filter((contract) => decodersOf(contract).length > 0);
    const topics0 = new Set(speaking.flatMap(decodersOf).map((decoder) => decoder.topic0 as Hash));
    this.filter = { addresses: speaking.map(({ address }) => address), topics0: [...topics0] };
    this.events = speaking
      .flatMap((one) => decodersOf(one).map(({ topic0 }) => `${one.address} ${topic0}`))
      .toSorted();
    this.#sources = new HexMap(
      all.map((contract) => [contract.address, { contract, decoders: tableOf(contract) }]),
    );
  }

  /**
   * Decodes one log; `null` for a log of another contract or an event that is not of interest.
   * A known event with the wrong shape, or with values its rules forbid, is `undecodable`.
   */
  decode(log: RawLog): DecodedLog | null {
    const topic0 = topic0Of(log);
    const source = this.#sources.get(log.address);
    if (topic0 === undefined || source === undefined) return null;
    const decoder = source.decoders.get(topic0);
    if (decoder === undefined) return null;
    const text = textOf(log);
    const event = hasShape(text, decoder) ? decoder.read(text, log.address) : wrongShape;
    return { log, contract: source.contract, event };
  }
}

/** A contract and the decoders of its events by topic0. */
type Source = { readonly contract: Contract; readonly decoders: HexMap<Hash, Decoder> };

function tableOf(contract: Contract): Source["decoders"] {
  return new HexMap(decodersOf(contract).map((decoder) => [decoder.topic0 as Hash, decoder]));
}

const wrongShape: ChainEvent = {
  kind: "undecodable",
  reason: "number of topics or data length is not that of the event",
};

function hasShape(text: LogText, decoder: Decoder): boolean {
  if (text.topicCount !== decoder.topicCount) return false;
  const bytes = dataBytesOf(text);
  return typeof decoder.dataBytes === "number"
    ? bytes === decoder.dataBytes
    : bytes >= decoder.dataBytes.min && bytes % 32 === 0;
}

const exchangeDecoders = {
  1: [...exchangeV1Decoders, ...exchangeAdminDecoders],
  2: [...exchangeV2Decoders, ...exchangeAdminDecoders],
  3: [...exchangeV3Decoders, ...pauseDecoders()],
} as const;

const noDecoders: readonly Decoder[] = [];

/** All decoders a contract can need, by its kind. */
export function decodersOf(contract: Contract): readonly Decoder[] {
  switch (contract.kind) {
    case "exchange":
      return exchangeDecoders[contract.generation];
    case "fee_module":
      return feeModuleDecoders;
    case "conditional_tokens":
      return conditionalTokensDecoders;
    case "neg_risk_adapter":
      return negRiskAdapterDecoders;
    case "neg_risk_operator":
      return negRiskOperatorDecoders;
    case "uma_adapter_v1":
      return umaAdapterV1Decoders;
    case "uma_adapter":
      return umaAdapterDecoders;
    case "oracle_aggregator":
      return oracleAggregatorDecoders;
    case "oo_reporter":
      return ooReporterDecoders;
    case "binary_module":
      return binaryModuleDecoders;
    case "neg_risk_module":
      return negRiskModuleDecoders;
    case "combinatorial_module":
      return combinatorialModuleDecoders;
    case "oracle":
      return noDecoders;
  }
}
