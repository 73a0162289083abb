import { signal } from "@preact/signals";

const tickMs = 1000;

/** The current time in Unix milliseconds, updated every second while the page is visible. */
export const nowMs = signal(Date.now());

setInterval(() => {
  if (!document.hidden) nowMs.value = Date.now();
}, tickMs);
