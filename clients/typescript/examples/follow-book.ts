/** The channel `orderbook`: a copy of a book that proves itself; only where the service has a book source. */
import { busiestToken, client } from "./connect.ts";

for await (const book of client.followBook(await busiestToken())) {
  const [bid] = book.bids;
  const [ask] = book.asks;
  console.log(`bid ${bid?.price ?? "none"}, ask ${ask?.price ?? "none"}`);
  // A program that follows would go on; this one has seen enough.
  break;
}
