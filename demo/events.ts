/** Creates events on the chain: their texts, conditions and tokens, and at the end their results. */
import { encodeAbiParameters, type Hex, parseEther, stringToHex } from "viem";
import { assert } from "../src/base/assert.ts";
import { type Address, type Hash, parseAddress, type TokenId } from "../src/base/ids.ts";
import { deriveConditionId, deriveTokenIds } from "../src/market/ids/condition-ids.ts";
import { toKeccak, toWord } from "../src/market/ids/keccak.ts";
import { addresses, admin, creator, type Venue } from "./addresses.ts";
import { encodeCall } from "./artifacts.ts";
import type { DemoChain } from "./demo-chain.ts";
import type { EventDraft, QuestionDraft } from "./event-series.ts";

export type OpenQuestion = {
  readonly conditionId: string;
  readonly tokenIds: readonly [TokenId, TokenId];
  /** The question's id at the UMA adapter, where its result is reported. */
  readonly requestId: Hash;
};

/** Creates the questions of an event. `venueId` makes texts unique. */
export async function openEvent(
  chain: DemoChain,
  draft: EventDraft,
  context: { venue: Venue; venueId: number },
): Promise<OpenQuestion[]> {
  const { venue, venueId } = context;
  const requested = venue.isNegRisk
    ? await askNegRisk(chain, draft, venueId)
    : await askBinary(chain, draft, venueId);
  const open: OpenQuestion[] = [];
  for (const { questionId, requestId } of requested) {
    const oracle = toAddress(venue.isNegRisk ? addresses.negRiskAdapter : addresses.umaAdapter);
    const conditionId = deriveConditionId({ oracle, questionId, outcomeSlotCount: 2 });
    const tokenIds = deriveTokenIds(conditionId, toAddress(venue.backing));
    const question = { conditionId, tokenIds, requestId };
    if (venue.generation === 1) await register(chain, question, venue);
    open.push(question);
  }
  return open;
}

/** The result of a question: the outcome that pays, or half for both. */
export type Result = "first" | "second" | "both";

const getPrice: Readonly<Record<Result, bigint>> = {
  first: parseEther("1"),
  second: 0n,
  both: parseEther("0.5"),
};

export async function resolveQuestion(
  chain: DemoChain,
  question: OpenQuestion,
  answer: { venue: Venue; result: Result },
): Promise<void> {
  const to = answer.venue.isNegRisk ? addresses.negRiskUmaAdapter : addresses.umaAdapter;
  const data = encodeCall("UmaAdapter", "resolve", [question.requestId, getPrice[answer.result]]);
  await chain.send({ from: creator, to, data });
}

type PreparedRequest = { readonly questionId: Hash; readonly requestId: Hash };

async function askBinary(
  chain: DemoChain,
  draft: EventDraft,
  id: number,
): Promise<PreparedRequest[]> {
  const requested: PreparedRequest[] = [];
  for (const question of draft.questions) {
    const text = questionText(question, { draft, venueId: id });
    const ending = `. Updates made by the question creator via the bulletin board at ${addresses.umaAdapter} should be considered.`;
    const requestId = await initialize(chain, addresses.umaAdapter, `${text}/50-50${ending}`);
    requested.push({ questionId: requestId, requestId });
  }
  return requested;
}

/** Creates the questions of a neg-risk event. The operator links each question to the UMA request that answers it. */
async function askNegRisk(
  chain: DemoChain,
  draft: EventDraft,
  id: number,
): Promise<PreparedRequest[]> {
  const metadata = `title: ${draft.title}, description: ${draft.description}, id: ${id}`;
  const data = stringToHex(metadata);
  await chain.send({
    from: admin,
    to: addresses.negRiskOperator,
    data: encodeCall("NegRiskOperator", "prepareMarket", [0n, data]),
  });
  const marketId = negRiskMarketId(data);
  const requested: PreparedRequest[] = [];
  for (const [index, question] of draft.questions.entries()) {
    const text = questionText(question, { draft, venueId: id + index });
    const ending = `. This request MUST only resolve to p1 or p2.  Updates made by the question creator via the bulletin board at ${addresses.negRiskUmaAdapter} should be considered.`;
    const requestId = await initialize(chain, addresses.negRiskUmaAdapter, text + ending);
    const title = stringToHex(question.title);
    const call = encodeCall("NegRiskOperator", "prepareQuestion", [marketId, title, requestId]);
    await chain.send({ from: admin, to: addresses.negRiskOperator, data: call });
    requested.push({ questionId: toWord(BigInt(marketId) + BigInt(index)), requestId });
  }
  return requested;
}

/** Returns the UMA text of a question, up to the meaning of its third price. */
function questionText(
  { title, outcomes }: QuestionDraft,
  { draft, venueId }: { draft: EventDraft; venueId: number },
): string {
  const [first, second] = outcomes;
  return (
    `q: title: ${title}, description: ${draft.description} market_id: ${venueId}` +
    ` res_data: p1: 0, p2: 1, p3: 0.5.` +
    ` Where p1 corresponds to ${second}, p2 to ${first}, p3 to unknown`
  );
}

/** Sends the text of a question to its adapter. Returns its id, the hash of the text as the adapter completes it. */
async function initialize(chain: DemoChain, adapter: Hex, text: string): Promise<Hash> {
  const data = stringToHex(text);
  await chain.send({
    from: creator,
    to: adapter,
    data: encodeCall("UmaAdapter", "initialize", [data, 5_000_000n, 500_000_000n]),
  });
  return toKeccak(Buffer.from(`${text},initializer:${creator.slice(2)}`));
}

function negRiskMarketId(data: Hex): Hash {
  const parameters = [{ type: "address" }, { type: "uint256" }, { type: "bytes" }] as const;
  const encoded = encodeAbiParameters(parameters, [addresses.negRiskOperator, 0n, data]);
  return toWord((BigInt(toKeccak(Buffer.from(encoded.slice(2), "hex"))) >> 8n) << 8n);
}

async function register(
  chain: DemoChain,
  { conditionId, tokenIds }: OpenQuestion,
  { exchange }: Venue,
): Promise<void> {
  const ids = tokenIds.map(BigInt);
  // The order of the tokens in a registration does not show which outcome is first, so both orders occur.
  const pair = conditionId.endsWith("0") ? ids : ids.toReversed();
  const data = encodeCall("ExchangeV1", "registerToken", [...pair, conditionId]);
  await chain.send({ from: admin, to: exchange, data });
}

function toAddress(hex: Hex): Address {
  const address = parseAddress(hex);
  assert(address !== null, `not an address: ${hex}`);
  return address;
}
