import type { LiveState as State } from "../service/use-stream.ts";

const words: Readonly<Record<State, string>> = {
  connecting: "Connecting…",
  replaying: "Catching up…",
  live: "Live",
  failed: "Not available",
};

/** Whether a list follows the stream. */
export function LiveState({ state }: { readonly state: State }) {
  return (
    <span class={`live-state ${state}`} role="status">
      {words[state]}
    </span>
  );
}
