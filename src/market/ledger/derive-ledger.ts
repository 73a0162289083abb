/**
 * Derives the ledger of one transaction from its logs: why each wallet has more or less of a token. Token transfers
 * alone give exact balances; the fills and the events of positions say why. Logs are walked in order:
 *
 * 1. What moves to or from an exchange belongs to its next match. The fills claim their part.
 * 2. Tokens that pass through a contract keep their owner. A split, merge, redemption or conversion claims what was
 *    minted or burnt before its event. Contracts that pass tokens on have no rows.
 * 3. The rest are transfers, so an unknown contract costs the cause, never the balance.
 *
 * The sum of the rows of a wallet and token must equal the net of its transfers. A difference is a transfer too.
 */
import { type Address, type Seq, type TokenId, toSeq } from "../../base/ids.ts";
import type { Contract, Contracts } from "../../contracts/contracts.ts";
import type { PositionMigrated, TokenAmount, TokensTransferred } from "../../contracts/events.ts";
import type { DecodedLog } from "../../contracts/log-decoder.ts";
import type { Fill } from "../fill.ts";
import { getAmounts, LedgerDraft, type TransactionLedger } from "./ledger-draft.ts";
import { zeroAddress } from "./ledger-row.ts";
import { PositionChanges } from "./position-changes.ts";
import { type Movement, settleFills } from "./settle-fills.ts";
import { extract, isPassThrough, negate, type Part, sumTokens, TokenFlow } from "./token-flow.ts";

/**
 * Derives the ledger of a transaction from its decoded logs in order, and from the fills that derive from them. Without
 * a token transfer there is none: blooms and receipts prove that no log is missing.
 */
export function deriveLedger(
  logs: readonly DecodedLog[],
  fills: readonly Fill[],
  { contracts, timestamp }: { readonly contracts: Contracts; readonly timestamp: number },
): TransactionLedger {
  const first = logs.find(({ event }) => event.kind === "tokens_transferred")?.log;
  if (first === undefined) return { rows: [], balances: [], difference: null };
  const walk = new LedgerWalk(contracts, fills);
  for (const { log, contract, event } of logs) {
    const seq = toSeq(log.blockNumber, log.logIndex);
    if (event.kind === "tokens_transferred") walk.takeTransfer(event, seq, contract);
    else if (event.kind === "orders_matched") walk.settle(contract.address, seq);
    else if (event.kind === "positions_changed") walk.events.take(event, seq, contract);
    else if (event.kind === "position_migrated") walk.takeMigration(event, seq, contract);
    else if (event.kind === "collateral_settled") walk.settleCollateral(event.amount, seq);
    else if (event.kind === "fee_refunded" && event.tokenId !== null) {
      walk.refunds.push({ ...event, tokenId: event.tokenId, module: contract.address });
    }
  }
  return walk.finish({ timestamp, txHash: first.txHash });
}

type Refund = {
  readonly to: Address;
  readonly tokenId: TokenId;
  readonly refund: bigint;
  readonly module: Address;
};

class LedgerWalk {
  readonly #contracts: Contracts;
  readonly #unsettled: Fill[];
  readonly #draft: LedgerDraft;
  readonly #flow = new TokenFlow();
  /** What moved at each exchange since its last match. */
  readonly #atExchange = new Map<Address, Movement[]>();
  /** Transfers between wallets that the neg-risk adapter made: direct fills of an exchange, if anything. */
  readonly #madeByAdapter: { readonly from: Address; readonly part: Part }[] = [];
  /** Legacy tokens that came to a module, which migrates them. */
  readonly #legacy: Part[] = [];
  readonly events: PositionChanges;
  readonly refunds: Refund[] = [];
  #shortAt: Seq | null = null;

  constructor(contracts: Contracts, fills: readonly Fill[]) {
    this.#contracts = contracts;
    this.#unsettled = [...fills];
    this.#draft = new LedgerDraft(contracts, (account) => this.#isWallet(account));
    this.events = new PositionChanges({
      contracts,
      draft: this.#draft,
      isWallet: (account) => this.#isWallet(account),
      getMovements: (exchange) => this.#getMovements(exchange),
    });
  }

  takeTransfer(event: TokensTransferred, seq: Seq, collection: Contract): void {
    const { operator, from, to } = event;
    if (from === to) return;
    const tokens = sumTokens(event.tokens.filter(({ amount }) => amount > 0n));
    this.#draft.count(from, negate(tokens), seq);
    this.#draft.count(to, tokens, seq);
    const exchange = [operator, from, to].find((account) => this.#getKind(account) === "exchange");
    const isMigrating = collection.kind === "conditional_tokens" && this.#isModule(to);
    // What leaves an exchange loses its owner, and so does a legacy token in a module.
    const isLost = exchange !== undefined || isMigrating || this.#isModule(from);
    const parts = tokens.flatMap((token) => this.#getParts(event, token, seq));
    if (isPassThrough(this.#contracts, to)) {
      for (const part of parts) {
        this.#flow.hold(isLost ? { ...part, owner: null, isNew: false } : part);
      }
    }
    if (exchange !== undefined) this.#recordMovements(exchange, event, { tokens, seq });
    else if (isMigrating) this.#legacy.push(...parts.filter(({ owner }) => owner !== null));
    else if (to === zeroAddress) this.events.burnt.push(...parts);
    else if (this.#getKind(from) === "neg_risk_adapter") this.events.sentByAdapter.push(...parts);
    else if (!this.#isWallet(to)) return;
    else if (from === zeroAddress) this.events.minted.push(...parts);
    else this.#deliver(event, parts);
  }

  /** Returns what a transfer moves, with its owners. */
  #getParts({ operator, from, to }: TokensTransferred, token: TokenAmount, seq: Seq): Part[] {
    const location = { at: to === zeroAddress ? from : to, seq };
    const isFromWallet = this.#isWallet(from);
    if (!isFromWallet && from !== zeroAddress) return this.#flow.take(from, token, location);
    const via = this.#getKind(operator) === "auto_redeemer" ? operator : location.at;
    const owner = isFromWallet ? from : null;
    return [{ ...token, ...location, owner, via, isNew: !isFromWallet }];
  }

  #deliver({ operator, from, to }: TokensTransferred, parts: readonly Part[]): void {
    const isByAdapter = this.#getKind(operator) === "neg_risk_adapter";
    if (!isByAdapter) this.events.forward(from, to, parts);
    else if (this.#getKind(to) === "burn_address") this.events.destroyed.push(...parts);
    else this.#madeByAdapter.push(...parts.map((part) => ({ from, part })));
  }

  #recordMovements(
    exchange: Address,
    { from, to }: TokensTransferred,
    { tokens, seq }: { readonly tokens: readonly TokenAmount[]; readonly seq: Seq },
  ): void {
    const movements = this.#getMovements(exchange);
    const add = (wallet: Address, signed: readonly TokenAmount[]) => {
      if (this.#isWallet(wallet)) movements.push(...signed.map((one) => ({ ...one, wallet, seq })));
    };
    add(from, negate(tokens));
    add(to, tokens);
  }

  #getMovements(exchange: Address): Movement[] {
    const movements = this.#atExchange.get(exchange) ?? [];
    this.#atExchange.set(exchange, movements);
    return movements;
  }

  /** Settles the fills of an exchange below a position, where a match or the transaction ends. */
  settle(exchange: Address, below: number): void {
    const isDue = (fill: Fill) => fill.exchange.address === exchange && fill.seq < below;
    const fills = extract(this.#unsettled, isDue);
    const movements = this.#getMovements(exchange);
    this.#atExchange.delete(exchange);
    const direct = fills.filter(
      (fill) => fill.role === "direct" && fill.exchange.exchange === "neg_risk",
    );
    const isDirect = (from: Address, to: Address) =>
      direct.some(
        ({ maker, taker }) => (maker === from && taker === to) || (maker === to && taker === from),
      );
    for (const { from, part } of extract(this.#madeByAdapter, (one) =>
      isDirect(one.from, one.part.at),
    )) {
      movements.push({ ...part, wallet: from, amount: -part.amount }, { ...part, wallet: part.at });
    }
    const { entries, isShort } = settleFills(exchange, fills, movements);
    for (const entry of entries) this.#draft.add(entry);
    if (isShort) this.#shortAt ??= fills[0]?.seq ?? null;
  }

  /** The mint in a migration comes before its event, and so can what the module does with the legacy token. */
  takeMigration({ account, tokenId, amount }: PositionMigrated, seq: Seq, module: Contract): void {
    const legacy = this.#legacy.findIndex(
      (part) => part.owner === account && part.amount === amount,
    );
    const minted = this.events.minted.findIndex(
      (part) => part.at === account && part.tokenId === tokenId && part.amount === amount,
    );
    if (legacy === -1 || minted === -1) return;
    const tokens = [
      ...negate(getAmounts(this.#legacy.splice(legacy, 1))),
      ...getAmounts(this.events.minted.splice(minted, 1)),
    ];
    this.#draft.add({ seq, wallet: account, kind: "migrate", via: module.address, tokens });
  }

  settleCollateral(amount: bigint, seq: Seq): void {
    this.#draft.countCollateral("protocol_v2", -amount, seq);
  }

  /** Books everything that nothing explained as transfers. */
  finish(location: Parameters<LedgerDraft["finish"]>[0]): TransactionLedger {
    const exchanges = [
      ...this.#atExchange.keys(),
      ...this.#unsettled.map((fill) => fill.exchange.address),
    ];
    for (const exchange of new Set(exchanges)) this.settle(exchange, Number.POSITIVE_INFINITY);
    this.#draft.transferAll(this.#madeByAdapter);
    this.events.finish();
    this.#draft.keepParts([...this.#legacy, ...this.#flow.heldParts()], ({ at }) => at);
    for (const { module, ...refund } of this.refunds) this.#draft.refund(module, refund);
    const ledger = this.#draft.finish(location);
    return { ...ledger, difference: this.#shortAt ?? ledger.difference };
  }

  #getKind(account: Address): Contract["kind"] | null {
    return this.#contracts.byAddress.get(account)?.kind ?? null;
  }

  #isModule(account: Address): boolean {
    const kind = this.#getKind(account);
    return (
      kind === "binary_module" || kind === "neg_risk_module" || kind === "combinatorial_module"
    );
  }

  #isWallet(account: Address): boolean {
    return account !== zeroAddress && !isPassThrough(this.#contracts, account);
  }
}
