/** The counts of the stream since the process started, and its current connections and subscriptions. */
export type StreamMeter = ReturnType<typeof newStreamMeter>;

/** Returns a meter with all counts at 0. */
export function newStreamMeter() {
  return {
    connections: 0,
    subscriptions: 0,
    /** Events sent to all clients, and their bytes on the wire. */
    messages: 0,
    sent_bytes: 0,
    /** The part of `messages` that was sent in replays. */
    replayed_messages: 0,
    /** Clients closed for being slow or silent. */
    slow_closes: 0,
  };
}
