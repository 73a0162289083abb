import assert from "node:assert/strict";
import { test } from "node:test";
import { Outbox } from "./outbox.ts";

function openOutbox() {
  const written: string[] = [];
  const client = { room: Infinity };
  const outbox = new Outbox((bytes) => {
    written.push(String(bytes));
    client.room -= 1;
    return client.room > 0;
  });
  return { outbox, written, client };
}

test("what a client does not accept waits, and is sent in order as far as it accepts more", async () => {
  const { outbox, written, client } = openOutbox();
  client.room = 2;
  for (const [index, text] of ["a", "b", "c", "d", "e"].entries())
    outbox.push({ bytes: Buffer.from(text), firstSeq: index, lastSeq: index }, 0);
  assert.deepEqual(written, ["a", "b"]);
  assert.equal(outbox.deliveredSeq, 1);
  client.room = 2;
  outbox.drained(1);
  assert.deepEqual(written, ["a", "b", "c", "d"]);
  const waiting = outbox.whenRoom();
  assert.equal(await Promise.race([waiting, Promise.resolve("full")]), "full");
  client.room = 2;
  outbox.drained(2);
  await waiting;
  assert.deepEqual(written, ["a", "b", "c", "d", "e"]);
  assert.equal(outbox.deliveredSeq, 4);
});
