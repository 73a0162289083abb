/** What every example begins with: the service of `ODDWIRE_URL`, with the key `ODDWIRE_API_KEY`. */
import process from "node:process";
// In a project of yours: import { OddwireClient } from "oddwire-client";
import { OddwireClient } from "../src/client.ts";

/** Where the service is, and the key to show it. */
export const connection = {
  url: process.env["ODDWIRE_URL"] ?? "http://127.0.0.1:8080",
  key: process.env["ODDWIRE_API_KEY"] ?? "",
};

export const client = new OddwireClient(connection);

/** The token that is traded most: something to ask about. */
export async function busiestToken(): Promise<string> {
  const page = await client.markets({ sort: "volume", status: "all", limit: 10 }).page();
  const token = page.data.flatMap(({ tokens }) => tokens).at(0);
  if (token === undefined) throw new Error("no market is known yet");
  return token.token_id;
}
