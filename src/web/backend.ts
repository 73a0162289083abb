import type { FastifyRequest } from "fastify";
import type { TokenId } from "../base/ids.ts";
import type { BookSource } from "../catalog/order-books.ts";
import type { Contracts } from "../decode/contracts.ts";
import type { RowContext } from "../rows/trade-row.ts";
import type { PriceSource } from "../store/read-price.ts";
import type { Cursors } from "./cursor.ts";
import type { Freshness } from "./meta.ts";
import type { Kept } from "./route.ts";

/** What the endpoints that serve data read from. They write nothing. */
export type Backend = PriceSource & {
  readonly contracts: Contracts;
  readonly cursors: Cursors;
  readonly freshness: () => Freshness;
  /** `null` when none is configured. */
  readonly books: BookSource | null;
};

/** Answers that change with anything that is indexed, becomes final or is taken back. */
export function keptUntilNews({ store, state, freshness }: Backend): Kept {
  return {
    freshness,
    lasts: () => {
      const [stored, known] = [store.revision, state.revision];
      return () => store.revision === stored && state.revision === known;
    },
  };
}

/** The same, and with the best orders of the books of some tokens. */
export function keptWithBook(
  backend: Backend,
  tokensOf: (request: FastifyRequest) => readonly TokenId[],
): Kept {
  const kept = keptUntilNews(backend);
  return {
    ...kept,
    lasts: (request) => {
      const isCurrent = kept.lasts(request);
      const tops = tokensOf(request).map((id) => ({ id, top: backend.bookTopOf(id) }));
      return () => isCurrent() && tops.every(({ id, top }) => backend.bookTopOf(id) === top);
    },
  };
}

/** What rows need to know, as of now. */
export function rowContextOf({ store, state }: Backend): RowContext {
  return {
    directory: state.directory,
    finalizedBlock: store.coverage?.last.number ?? -1,
  };
}
