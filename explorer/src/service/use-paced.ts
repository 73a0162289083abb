import { useEffect, useRef, useState } from "preact/hooks";
import { isPublic } from "./session.ts";

/** Without a key, requests count toward the IP's rate limit. */
const pace = { keyMs: 2000, publicMs: 20_000 };

/** Returns a number and a function that raises it: immediately, but only once within two seconds, or twenty without a key. */
export function usePaced(): readonly [version: number, raise: () => void] {
  const [version, setVersion] = useState(0);
  const state = useRef<{ timer?: ReturnType<typeof setTimeout> | undefined; nextMs: number }>({
    nextMs: 0,
  });
  useEffect(() => () => clearTimeout(state.current.timer), []);
  const raise = (): void => {
    const { current } = state;
    if (current.timer !== undefined) return;
    current.timer = setTimeout(
      () => {
        current.timer = undefined;
        current.nextMs = Date.now() + (isPublic.value ? pace.publicMs : pace.keyMs);
        setVersion((before) => before + 1);
      },
      Math.max(0, current.nextMs - Date.now()),
    );
  };
  return [version, raise];
}
