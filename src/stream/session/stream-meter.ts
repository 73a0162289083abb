/** What the stream has done since the process started, and what it holds now. */
export class StreamMeter {
  #connections = 0;
  #subscriptions = 0;
  #messages = 0;
  #bytes = 0;
  #replayed = 0;
  #slowCloses = 0;

  /** One connection more, or with -1 one less. */
  connected(change: 1 | -1): void {
    this.#connections += change;
  }

  /** Subscriptions that were made, or with a negative number given up. */
  subscribed(change: number): void {
    this.#subscriptions += change;
  }

  /** Events sent to one client, and their bytes on the wire. */
  sent(messages: number, bytes: number): void {
    this.#messages += messages;
    this.#bytes += bytes;
  }

  /** Events of those that were read back from the store. */
  replayed(messages: number): void {
    this.#replayed += messages;
  }

  /** A client was closed for being slow or silent. */
  slowClosed(): void {
    this.#slowCloses += 1;
  }

  /** The numbers as of now. */
  read() {
    return {
      connections: this.#connections,
      subscriptions: this.#subscriptions,
      messages: this.#messages,
      bytes: this.#bytes,
      replayed_messages: this.#replayed,
      slow_closes: this.#slowCloses,
    };
  }
}
