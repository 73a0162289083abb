import { useRef, useState } from "preact/hooks";
import type { Trade } from "../../../clients/typescript/src/api.ts";
import { plural } from "../format/numbers.ts";
import { zoneAt, zoneText } from "../format/times.ts";
import { LiveState } from "../parts/live-state.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { Notice, Skeleton } from "../parts/states.tsx";
import type { LiveState as State } from "../service/use-stream.ts";
import { MatchTypes, TradeTable } from "./trade-table.tsx";
import { type Older, useOlder, withOlder } from "./use-older.ts";
import { type Tape, type TradeChannel, useTape } from "./use-tape.ts";

type Props = {
  readonly channel: TradeChannel;
  readonly hasMarket: boolean;
  readonly label: string;
  /** Whether no further trade is possible. */
  readonly isClosed?: boolean;
  /** Shown where there is no trade. */
  readonly emptyText: string;
};

/**
 * Live trades, and older ones on request. The list stands still while the pointer is on it, while it is paused, and
 * while older trades are shown. Another channel starts another list.
 */
export function LiveTape(props: Props) {
  return <ChannelTape key={JSON.stringify(props.channel)} {...props} />;
}

function ChannelTape(props: Props) {
  const { channel, isClosed = false } = props;
  const { tape, state } = useTape(channel);
  const older = useOlder(channel);
  const [isPaused, setPaused] = useState(false);
  const [isHovered, setHovered] = useState(false);
  const isStopped = isPaused || older.next !== undefined;
  const visible = useStopped(tape, isStopped || isHovered, older);
  const toggle = (): void => {
    setPaused(!isStopped);
    older.drop();
  };
  return (
    <div
      onPointerEnter={({ pointerType }) => setHovered(pointerType === "mouse")}
      onPointerLeave={() => setHovered(false)}
    >
      <p class="row tape-state">
        {isClosed ? (
          <span class="dim">Closed</span>
        ) : (
          <TapeState state={state} isStopped={isStopped} onToggle={toggle} />
        )}
        <Newer tape={tape} visible={visible.trades} />
        {tape.reverted.size > 0 && (
          <span class="warn" role="status">
            The chain was reorganized: {plural(tape.reverted.size, "trade")} reverted
          </span>
        )}
        <Zone />
      </p>
      {tape.trades.length === 0 ? (
        state === "live" ? (
          <Notice title={props.emptyText} />
        ) : (
          <Skeleton lines={6} />
        )
      ) : (
        <TradeTable tape={visible} label={props.label} hasMarket={props.hasMarket}>
          <OlderTrades older={older} hasOlder={tape.hasOlder} />
        </TradeTable>
      )}
      <MatchTypes />
    </div>
  );
}

function TapeState(props: {
  readonly state: State;
  readonly isStopped: boolean;
  readonly onToggle: () => void;
}) {
  const { state, isStopped, onToggle } = props;
  return (
    <>
      <LiveState state={state} />
      <button type="button" class="quiet small" onClick={onToggle}>
        {isStopped ? "Resume" : "Pause"}
      </button>
    </>
  );
}

/** How many trades came while the list stood still. */
function Newer({ tape, visible }: { readonly tape: Tape; readonly visible: readonly Trade[] }) {
  const visibleIds = new Set(visible.map(({ id }) => id));
  const waiting = tape.trades.findIndex(({ id }) => visibleIds.has(id));
  if (waiting === 0 || tape.trades.length === 0) return null;
  return (
    <span class="dim">
      {waiting > 0
        ? plural(waiting, "newer trade")
        : `at least ${plural(tape.trades.length, "newer trade")}`}
    </span>
  );
}

/** The zone of all times of a list. */
function Zone() {
  return (
    <span class="zone dim" title={`Times in ${zoneText()}`}>
      Times in {zoneAt(Date.now())}
    </span>
  );
}

function OlderTrades(props: {
  readonly older: ReturnType<typeof useOlder>;
  readonly hasOlder: boolean;
}) {
  const { next, isFull, read } = props.older;
  const hasMore = next === undefined ? props.hasOlder : next !== null;
  if (!hasMore) return null;
  if (isFull) {
    return <p class="dim">The list ends here. The API has all trades, as pages or as one file.</p>;
  }
  return <MoreButton label="Older trades" onRead={read} />;
}

/**
 * Returns the tape as it was when the list stopped, with the older trades that were read since. Trades that were
 * reverted since are struck out, then removed.
 */
function useStopped(tape: Tape, isStopped: boolean, older: Older): Tape {
  const stopped = useRef(tape);
  if (!isStopped || stopped.current.trades.length === 0) stopped.current = tape;
  const { reverted, finalizedSeq } = tape;
  const ids = new Set(tape.trades.map(({ id }) => id));
  const oldestSeq = tape.trades.at(-1)?.seq ?? 0;
  const all =
    older.trades.length === 0 ? stopped.current.trades : withOlder(stopped.current.trades, older);
  const trades = all.filter(({ id, seq }) => ids.has(id) || seq < oldestSeq);
  return { ...stopped.current, trades, reverted, finalizedSeq };
}
