import { signal } from "@preact/signals";

const tickMs = 1000;

/** The time of the viewer, to the second. */
export const nowMs = signal(Date.now());

setInterval(() => {
  if (!document.hidden) nowMs.value = Date.now();
}, tickMs);
