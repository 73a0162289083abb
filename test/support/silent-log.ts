import { pino } from "pino";

/** A log for tests that expect failures. */
export const silentLog = pino({ level: "silent" });
