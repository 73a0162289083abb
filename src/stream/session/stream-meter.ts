/** What the stream has done since the process started, and what it holds now. */
export type StreamMeter = {
  connections: number;
  subscriptions: number;
  /** Events sent, to all clients together, and their bytes on the wire. */
  messages: number;
  bytes: number;
  /** Events among them that were read back from the store. */
  replayed_messages: number;
  /** Clients closed for being slow or silent. */
  slow_closes: number;
};

/** Before anything is counted. */
export function newStreamMeter(): StreamMeter {
  const counted = { messages: 0, bytes: 0, replayed_messages: 0, slow_closes: 0 };
  return { connections: 0, subscriptions: 0, ...counted };
}
