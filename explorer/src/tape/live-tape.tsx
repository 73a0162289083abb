import { useRef, useState } from "preact/hooks";
import type { ChannelRequest } from "../../../client/src/stream-frames.ts";
import { plural } from "../format/numbers.ts";
import { Notice, Skeleton } from "../parts/states.tsx";
import type { LiveState } from "../service/use-stream.ts";
import { MatchTypes, TradeTable } from "./trade-table.tsx";
import { type Tape, useTape } from "./use-tape.ts";

const stateWords: Readonly<Record<LiveState, string>> = {
  connecting: "Connecting…",
  replaying: "Catching up…",
  live: "Live",
  failed: "Not available",
};

/** Live trades. The list stands still while the pointer is on it, or while it is paused. */
export function LiveTape(props: {
  readonly channel: ChannelRequest<"trades" | "token_trades">;
  readonly hasMarket: boolean;
  readonly label: string;
  /** Whether no further trade is possible. */
  readonly isClosed?: boolean;
  /** Shown where there is no trade. */
  readonly emptyText: string;
}) {
  const { tape, state } = useTape(props.channel);
  const [isPaused, setPaused] = useState(false);
  const [isHovered, setHovered] = useState(false);
  const shown = useHeld(tape, isPaused || isHovered);
  const shownIds = new Set(shown.trades.map(({ id }) => id));
  const waiting = tape.trades.findIndex(({ id }) => shownIds.has(id));
  return (
    <div onMouseEnter={() => setHovered(true)} onMouseLeave={() => setHovered(false)}>
      <p class="row tape-state">
        {props.isClosed === true ? (
          <span class="dim">Closed</span>
        ) : (
          <>
            <span class={`live-state ${state}`} role="status">
              {stateWords[state]}
            </span>
            <button
              type="button"
              class="quiet small"
              aria-pressed={isPaused}
              onClick={() => setPaused(!isPaused)}
            >
              {isPaused ? "Resume" : "Pause"}
            </button>
          </>
        )}
        {waiting > 0 && <span class="dim">{plural(waiting, "newer trade")}</span>}
        {tape.reverted.size > 0 && (
          <span class="warn" role="status">
            The chain was reorganized: {plural(tape.reverted.size, "trade")} reverted
          </span>
        )}
      </p>
      {tape.trades.length === 0 ? (
        state === "live" ? (
          <Notice title={props.emptyText} />
        ) : (
          <Skeleton lines={6} />
        )
      ) : (
        <TradeTable tape={shown} label={props.label} hasMarket={props.hasMarket} />
      )}
      <MatchTypes />
    </div>
  );
}

/** Returns the tape as it was when the list stopped. Trades that were reverted since are struck out, then removed. */
function useHeld(tape: Tape, isHeld: boolean): Tape {
  const held = useRef(tape);
  if (!isHeld || held.current.trades.length === 0) held.current = tape;
  const { reverted, finalizedSeq } = tape;
  const ids = new Set(tape.trades.map(({ id }) => id));
  const oldestSeq = tape.trades.at(-1)?.seq ?? 0;
  const trades = held.current.trades.filter(({ id, seq }) => ids.has(id) || seq < oldestSeq);
  return { ...held.current, trades, reverted, finalizedSeq };
}
