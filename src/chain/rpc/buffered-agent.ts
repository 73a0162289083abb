import { Agent, type ClientRequestArgs } from "node:http";

/** As much as Node reads immediately: more of it would be a block that the C library gives back each time. */
const readBytes = 64 * 1024;

/**
 * Connections that are kept open, each of which reads into one piece of memory, over and over. By
 * itself Node takes a new piece for every read: at full speed a hundred megabytes a second outside of
 * the heap, to be rid of which it collects the whole heap several times a second.
 *
 * What was read is gone with the next read. Node's parser of HTTP has copied it by then.
 */
export class BufferedAgent extends Agent {
  override createConnection(options: ClientRequestArgs) {
    const buffer = Buffer.allocUnsafeSlow(readBytes);
    const callback = (bytes: number): boolean => {
      // Reported here instead of to those who listen, of whom the parser is one.
      socket?.emit("data", buffer.subarray(0, bytes));
      return true;
    };
    const reading = { ...options, onread: { buffer, callback } };
    const socket = super.createConnection(reading);
    return socket;
  }
}
