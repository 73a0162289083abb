/** How often the explorer reads the values of the rows on the screen. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Refresher } from "../../explorer/src/market-list/refresher.ts";

const pace = { freshMs: 10_000, burst: 5, perReadMs: 1000 };

/** A refresher whose readings end when `settle` is called. */
function openRefresher() {
  const started: string[] = [];
  let ends: (() => void)[] = [];
  const read = async (item: string): Promise<string> => {
    started.push(item);
    await new Promise<void>((resolve) => {
      ends.push(resolve);
    });
    if (item === "broken") throw new Error("no connection");
    return `${item} ${started.length}`;
  };
  const settle = async (): Promise<void> => {
    while (ends.length > 0) {
      for (const end of ends.splice(0)) end();
      await new Promise(setImmediate);
    }
    ends = [];
  };
  const refresher = new Refresher(read, () => pace);
  refresher.tick(1000);
  return { refresher, started, settle };
}

const ignore = (): void => {};

suite("values of rows on the screen", () => {
  test("are read once the row has stayed for a moment, and again when they are old", async () => {
    const { refresher, started, settle } = openRefresher();
    let redrawn = 0;
    const release = refresher.watch(
      "a",
      () => "a",
      () => {
        redrawn += 1;
      },
    );
    refresher.tick(1100);
    assert.deepEqual(started, [], "a row that is scrolled past is not read");
    refresher.tick(1200);
    await settle();
    assert.deepEqual([refresher.valueOf("a"), redrawn], ["a 1", 1]);
    refresher.tick(11_199);
    assert.equal(started.length, 1);
    refresher.tick(11_200);
    assert.equal(refresher.valueOf("a"), "a 1", "the value stays until the next one is there");
    await settle();
    assert.deepEqual([refresher.valueOf("a"), redrawn], ["a 2", 2]);
    release();
    refresher.tick(60_000);
    assert.equal(started.length, 2, "a row that has left the screen is not read");
  });

  test("are read three at a time, and not faster than the pace", async () => {
    const { refresher, started, settle } = openRefresher();
    for (let at = 0; at < 20; at += 1) refresher.watch(`${at}`, () => `${at}`, ignore);
    refresher.tick(2000);
    assert.deepEqual(started, ["0", "1", "2"]);
    await settle();
    assert.equal(started.length, pace.burst);
    refresher.tick(4999);
    await settle();
    assert.equal(started.length, pace.burst + 2);
    for (let ms = 5000; ms <= 11_999; ms += 250) refresher.tick(ms);
    await settle();
    assert(started.length <= pace.burst + 9, `${started.length} readings in ten seconds`);
  });

  test("stay after a failure, and are not read again immediately", async () => {
    const { refresher, started, settle } = openRefresher();
    const items = ["fine", "broken"];
    refresher.watch("a", () => items[0] ?? "", ignore);
    refresher.tick(2000);
    await settle();
    items.shift();
    refresher.tick(12_000);
    await settle();
    refresher.tick(13_000);
    await settle();
    assert.deepEqual([started.length, refresher.valueOf("a")], [2, "fine 1"]);
  });
});
