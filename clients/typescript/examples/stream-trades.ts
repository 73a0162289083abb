/** GET /v1/stream: the newest trades, then each as it happens, whatever the network does. */
import { client } from "./connect.ts";

const stream = client.stream({ channel: { type: "trades" }, snapshot: 10 });
for await (const frame of stream) {
  if (frame.type === "snapshot") {
    for (const { side, size, price } of frame.data) console.log(`${side} ${size} at ${price}`);
    // A program that follows would go on; this one has seen enough.
    break;
  }
}
