import { useEffect, useRef, useState } from "preact/hooks";
import { type LiveState, useStream } from "../service/use-stream.ts";

/** What a part of the page of a wallet is about. Another `version` requires reading again. */
export type WalletPart = { readonly address: string; readonly version: number };

const firstMs = 200;
/** A busy wallet changes with every block. Reading it again counts toward the limit of the key. */
const leastMs = 3000;

/**
 * Follows a wallet, or nothing for `null`. `version` is another number after each change: after activity, and after a
 * reorganization that reverted some.
 */
export function useWalletChanges(address: string | null): {
  readonly version: number;
  readonly state: LiveState;
} {
  const [version, setVersion] = useState(0);
  const timer = useRef<number | null>(null);
  const lastMs = useRef(0);
  const channel = address === null ? null : ({ type: "wallet", wallets: [address] } as const);
  const state = useStream(channel && { channel }, (frames) => {
    const isChanged = frames.some(({ type }) => type === "event" || type === "reorg");
    if (!isChanged || timer.current !== null) return;
    const waitMs = Math.max(firstMs, lastMs.current + leastMs - performance.now());
    timer.current = window.setTimeout(() => {
      timer.current = null;
      lastMs.current = performance.now();
      setVersion((before) => before + 1);
    }, waitMs);
  });
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
  return { version, state };
}
