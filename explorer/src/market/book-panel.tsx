import { useEffect, useState } from "preact/hooks";
import type { Level } from "../../../clients/typescript/src/local-book.ts";
import { Depth, getMiddle, type Sides } from "../charts/depth.tsx";
import { cents, count, dollars } from "../format/numbers.ts";
import { Notice, Skeleton } from "../parts/states.tsx";
import { toFailure } from "../service/failure.ts";
import { nextPaint } from "../service/next-paint.ts";
import { client, hasBooks } from "../service/session.ts";

const levelsShown = 8;

type Book = Sides & { readonly staleReason: string | null };

/** The order book of a token, live. */
export function BookPanel({ tokenId }: { readonly tokenId: string }) {
  const { book, reason } = useBook(hasBooks.value ? tokenId : null);
  if (!hasBooks.value) {
    return (
      <Notice title="No order book">
        Books are kept off the chain. This service has no source of them (<code>ODDWIRE_VENUE</code>
        ).
      </Notice>
    );
  }
  if (reason !== null) return <Notice title="No order book">{reason}</Notice>;
  if (book === null) return <Skeleton lines={8} />;
  if (book.bids.length + book.asks.length === 0) return <Notice title="The book is empty" />;
  return (
    <>
      {book.staleReason !== null && (
        <p class="stale" role="status">
          The book may be out of date: {book.staleReason}
        </p>
      )}
      <Depth bids={book.bids} asks={book.asks} />
      <Ladder {...book} />
    </>
  );
}

/** Asks above, bids below, the spread between them. */
function Ladder({ bids, asks }: Sides) {
  const askRows = accumulate(asks.slice(0, levelsShown));
  const bidRows = accumulate(bids.slice(0, levelsShown));
  const most = Math.max(askRows.at(-1)?.totalUsd ?? 0, bidRows.at(-1)?.totalUsd ?? 0, 1);
  const middle = getMiddle({ bids, asks });
  const spread = Number(asks[0]?.price) - Number(bids[0]?.price);
  return (
    <table class="ladder num" aria-label="Order book">
      <thead>
        <tr>
          <th scope="col">Price</th>
          <th scope="col" class="right">
            Shares
          </th>
          <th scope="col" class="right">
            Total
          </th>
        </tr>
      </thead>
      <tbody>
        {askRows.toReversed().map((row) => (
          <LadderRow key={row.price} row={row} most={most} tone="down" />
        ))}
      </tbody>
      <tbody class="spread">
        <tr>
          <th scope="row" colSpan={3}>
            {middle === null
              ? "one side is empty"
              : `Spread ${cents(spread)} · mid ${cents(middle)}`}
          </th>
        </tr>
      </tbody>
      <tbody>
        {bidRows.map((row) => (
          <LadderRow key={row.price} row={row} most={most} tone="up" />
        ))}
      </tbody>
    </table>
  );
}

type Row = { readonly price: string; readonly shares: number; readonly totalUsd: number };

function LadderRow(props: {
  readonly row: Row;
  readonly most: number;
  readonly tone: "up" | "down";
}) {
  const { row, most, tone } = props;
  const style = { "--part": `${((row.totalUsd / most) * 100).toFixed(1)}%` };
  return (
    <tr class={`level ${tone}-level`} style={style}>
      <td class={tone}>{cents(row.price)}</td>
      <td class="right">{count(row.shares)}</td>
      <td class="right">{dollars(row.totalUsd)}</td>
    </tr>
  );
}

function accumulate(levels: readonly Level[]): Row[] {
  let totalUsd = 0;
  return levels.map(({ price, size }) => {
    totalUsd += Number(price) * Number(size);
    return { price, shares: Number(size), totalUsd };
  });
}

function useBook(tokenId: string | null): { book: Book | null; reason: string | null } {
  const [state, setState] = useState<{ book: Book | null; reason: string | null }>({
    book: null,
    reason: null,
  });
  const using = client.value;
  useEffect(() => {
    if (tokenId === null) return;
    const left = new AbortController();
    setState({ book: null, reason: null });
    const follow = async (): Promise<void> => {
      for await (const { bids, asks, staleReason } of using.followBook(tokenId, {
        signal: left.signal,
      })) {
        await nextPaint();
        if (left.signal.aborted) return;
        setState({ book: { bids, asks, staleReason }, reason: null });
      }
    };
    follow().catch((thrown: unknown) => {
      if (!left.signal.aborted) setState({ book: null, reason: toFailure(thrown).message });
    });
    return () => left.abort();
  }, [tokenId, using]);
  return state;
}
