import { useEffect, useRef, useState } from "preact/hooks";
import type { Market } from "../../../clients/typescript/src/api.ts";
import { client } from "../service/session.ts";
import { type ReplayMoment, ReplayPlayer } from "./replay-player.ts";

/** A replay of a market and its controls. */
export type Replay = ReplayMoment & {
  readonly isOn: boolean;
  readonly fromMs: number;
  readonly toMs: number;
  readonly start: () => void;
  readonly stop: () => void;
  readonly seek: (atMs: number) => void;
  readonly play: (isPlaying: boolean) => void;
  readonly setSpeed: (speed: number) => void;
};

const nothing: ReplayMoment = {
  atMs: 0,
  trades: [],
  price: null,
  tradeCount: 0,
  volumeUsd: 0,
  isPlaying: false,
  isReading: false,
};

/** A replay that is off until it is started, and ends with the page. */
export function useReplay(market: Market): Replay {
  const player = useRef<ReplayPlayer | null>(null);
  const [moment, setMoment] = useState<ReplayMoment | null>(null);
  const stop = (): void => {
    player.current?.close();
    player.current = null;
    setMoment(null);
  };
  useEffect(() => () => player.current?.close(), []);
  return {
    ...(moment ?? nothing),
    isOn: moment !== null,
    fromMs: player.current?.fromMs ?? 0,
    toMs: player.current?.toMs ?? 0,
    start: () => {
      player.current = ReplayPlayer.open(client.value, market, setMoment);
    },
    stop,
    seek: (atMs) => player.current?.seek(atMs),
    play: (isPlaying) => player.current?.play(isPlaying),
    setSpeed: (speed) => {
      if (player.current !== null) player.current.speed = speed;
    },
  };
}
