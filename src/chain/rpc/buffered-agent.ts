import { Agent, type ClientRequestArgs } from "node:http";

/** As much as Node reads immediately: more of it would be a block that the C library gives back each time. */
const readBytes = 64 * 1024;

/**
 * Keep-alive connections that each read into one buffer, whose content the next read replaces. Node allocates a
 * buffer for each read, which at full speed forces collections of the whole heap several times a second.
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
