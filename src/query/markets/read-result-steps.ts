/** Reads how a market got its result: what its oracles were asked, the answers, and the reports to its contracts. */
import { microsPerUnit } from "../../base/decimal.ts";
import type { Hash, TokenId } from "../../base/ids.ts";
import type { OracleStep } from "../../contracts/events.ts";
import type { LocatedEvent } from "../../market/block-facts.ts";
import { parseGen3TokenId } from "../../market/ids/gen3-ids.ts";
import type { Market, Resolution } from "../../market/market.ts";
import type { ResultStep } from "../../rows/resolution-row.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import { readEvents } from "../read-events.ts";

type Sources = { readonly facts: IndexedFacts; readonly state: MarketState };

/** A question has some ten steps. Only its adapter can ask again. */
const stepsMax = 1000;

/** A price of UMA has 18 decimals, and a micro 6. */
const umaPerMicro = 10n ** 12n;

/** Reads all steps to the result of a market, oldest first. */
export async function readResultSteps(
  { facts, state: { directory } }: Sources,
  market: Market,
): Promise<readonly ResultStep[]> {
  const { conditionId, mirror } = market;
  // What is in memory is taken before the first read, so that it belongs to one moment.
  const reports = [
    ...toReport("reported", directory.getResolution(conditionId)),
    ...toReport("mirror_resolved", mirror?.resolution ?? null),
  ];
  const questions = getQuestions(market, directory);
  const subjects = questions.map(({ questionId }) => questionId);
  const list = { kinds: ["oracle_step", "question_initialized"], subjects } as const;
  const page = {
    ...list,
    order: "asc",
    after: null,
    finalizedOnly: false,
    limit: stepsMax,
  } as const;
  const { byAddress } = directory.contracts;
  const found = subjects.length === 0 ? [] : await readEvents(facts, page);
  const steps = found.filter(({ address, event }) => {
    const requester = (event.kind === "oracle_step" ? event.requester : null) ?? address;
    const kind = byAddress.get(requester)?.kind;
    if (kind === "oracle_aggregator" || kind === "oo_reporter") return true;
    // On the first adapter anyone can ask any question under an id.
    return market.negRisk ? kind === "uma_adapter" : requester === market.oracle;
  });
  const indexes = new Set(questions.flatMap((one) => (one.isIndex ? one.questionId : [])));
  const toMicros = ({ address, event }: Located<OracleStep>): bigint | null => {
    if (event.price === null) return null;
    if (byAddress.get(address)?.kind !== "oracle_aggregator") return event.price / umaPerMicro;
    return indexes.has(event.questionId) ? event.price * microsPerUnit : event.price;
  };
  return [...toSteps(steps, toMicros), ...reports].toSorted((a, b) => a.seq - b.seq);
}

/** What an oracle is asked. The answer can be the index of the winning condition. */
type Question = { readonly questionId: Hash; readonly isIndex: boolean };

/** Returns the questions that decide the result of a market and of its mirror. */
function getQuestions(
  { conditionId, questionId, negRisk, mirror }: Market,
  { gen3, questions }: MarketState["directory"],
): readonly Question[] {
  const ids = [conditionId, mirror?.conditionId].filter((id) => id !== undefined);
  return ids.flatMap((id) => {
    const position = parseGen3TokenId(id as string as TokenId);
    if (position !== null) {
      const isIndex = gen3.isAtomic(position.eventId);
      return { questionId: isIndex ? position.eventId : (id as string as Hash), isIndex };
    }
    const isAnswered = negRisk && questionId !== null;
    const requested = isAnswered ? questions.getRequestId(questionId) : questionId;
    return requested === null ? [] : { questionId: requested, isIndex: false };
  });
}

type Located<Event> = Omit<LocatedEvent, "event"> & { readonly event: Event };

function toSteps(
  events: readonly LocatedEvent[],
  toMicros: (step: Located<OracleStep>) => bigint | null,
): readonly ResultStep[] {
  let bond: bigint | null = null;
  const created = new Map<Hash, ResultStep>();
  const steps: ResultStep[] = [];
  for (const one of events) {
    const { event } = one;
    if (event.kind === "question_initialized") {
      bond = event.bond;
      created.set(one.txHash, {
        ...one,
        ...nothing,
        step: "requested",
        account: event.creator,
        bond,
      });
    }
  }
  for (const one of events) {
    const { event } = one;
    if (event.kind !== "oracle_step") continue;
    const { step } = event;
    // The adapter asks the oracle in the transaction that creates the question.
    const creator = step === "requested" ? created.get(one.txHash)?.account : undefined;
    if (step === "requested") created.delete(one.txHash);
    const isBonded = step === "requested" || step === "proposed" || step === "disputed";
    steps.push({
      ...one,
      ...nothing,
      step,
      price: toMicros({ ...one, event }),
      account: event.account ?? creator ?? null,
      bond: isBonded ? (event.bond ?? bond) : null,
    });
  }
  return [...created.values(), ...steps];
}

const nothing = { price: null, payouts: null, account: null, bond: null } as const;

function toReport(step: "reported" | "mirror_resolved", result: Resolution | null): ResultStep[] {
  if (result === null) return [];
  return [{ ...result, ...nothing, step, account: result.oracle, payouts: result }];
}
