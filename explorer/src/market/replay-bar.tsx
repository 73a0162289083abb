import { useState } from "preact/hooks";
import { count, dollars, percent } from "../format/numbers.ts";
import { fullTime } from "../format/times.ts";
import { Segments } from "../parts/tabs.tsx";
import type { Replay } from "./use-replay.ts";

const speeds = ["0.5×", "1×", "4×"] as const;
const steps = 1000;

/** A slider over the market's life, with the totals at the current moment. */
export function ReplayBar({ replay }: { readonly replay: Replay }) {
  const [speed, setSpeed] = useState<(typeof speeds)[number]>("1×");
  const { fromMs, toMs, atMs, isPlaying } = replay;
  const value = Math.round(((atMs - fromMs) / (toMs - fromMs)) * steps);
  return (
    <div class="replay" role="group" aria-label="Replay">
      <button
        type="button"
        class="primary"
        aria-label={isPlaying ? "Pause the replay" : "Play the replay"}
        onClick={() => replay.play(!isPlaying)}
      >
        {isPlaying ? "❚❚" : "▶"}
      </button>
      <input
        type="range"
        min={0}
        max={steps}
        value={value}
        aria-label="Moment of the market's life"
        aria-valuetext={fullTime(atMs)}
        onInput={({ currentTarget }) => {
          replay.seek(fromMs + (Number(currentTarget.value) / steps) * (toMs - fromMs));
        }}
      />
      <Segments
        label="Speed"
        words={speeds}
        chosen={speed}
        onChoose={(next) => {
          setSpeed(next);
          replay.setSpeed(Number.parseFloat(next));
        }}
      />
      <p class="num" aria-busy={replay.isReading}>
        <b>{fullTime(atMs)}</b>
        <span>{percent(replay.price)}</span>
        <span>{count(replay.tradeCount)} trades</span>
        <span>{dollars(replay.volumeUsd)} traded</span>
      </p>
    </div>
  );
}
