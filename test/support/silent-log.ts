import { pino } from "pino";

/** For what is expected to fail. */
export const silentLog = pino({ level: "silent" });
