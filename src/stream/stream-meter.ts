/** What the stream has done since the process started, and what it holds now. */
export class StreamMeter {
  #messages = 0;
  #bytes = 0;
  #slowCloses = 0;

  /** Events sent to one client, and their bytes on the wire. */
  sent(messages: number, bytes: number): void {
    this.#messages += messages;
    this.#bytes += bytes;
  }

  /** A client was closed for being slow or silent. */
  slowClosed(): void {
    this.#slowCloses += 1;
  }

  /** The numbers as of now. */
  read(): { readonly messages: number; readonly bytes: number; readonly slowCloses: number } {
    return { messages: this.#messages, bytes: this.#bytes, slowCloses: this.#slowCloses };
  }
}
