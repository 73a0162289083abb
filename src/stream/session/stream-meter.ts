/** What the stream has done since the process started, and what it holds now. */
export type StreamMeter = ReturnType<typeof newStreamMeter>;

/** Before anything is counted. */
export function newStreamMeter() {
  return {
    connections: 0,
    subscriptions: 0,
    /** Events sent, to all clients together, and their bytes on the wire. */
    messages: 0,
    bytes: 0,
    /** Events among them that were read back from the store. */
    replayed_messages: 0,
    /** Clients closed for being slow or silent. */
    slow_closes: 0,
  };
}
