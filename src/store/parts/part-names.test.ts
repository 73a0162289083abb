import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { activeParts } from "./part-names.ts";

suite("of the parts in a folder those hold the rows", () => {
  test("that no other one was made of", () => {
    const names = ["all_1_1_0", "all_2_2_0", "all_3_3_0", "all_1_2_1", "all_4_4_0", "all_4_4_1"];
    assert.deepEqual(activeParts(names), ["all_1_2_1", "all_3_3_0", "all_4_4_1"]);
  });

  test("that were rewritten last", () => {
    const names = ["all_1_5_2", "all_1_5_2_9", "all_1_5_2_12", "all_6_6_0_12", "all_6_6_0"];
    assert.deepEqual(activeParts(names), ["all_1_5_2_12", "all_6_6_0_12"]);
  });

  test("in the order of their inserts, not of their names", () => {
    assert.deepEqual(activeParts(["all_10_10_0", "all_9_9_0", "all_100_120_3"]), [
      "all_9_9_0",
      "all_10_10_0",
      "all_100_120_3",
    ]);
  });

  test("that are whole, and nothing else that stands there", () => {
    const names = [
      "tmp_merge_all_1_2_1",
      "tmp_insert_all_3_3_0",
      "delete_tmp_all_1_1_0",
      "detached",
      "format_version.txt",
      "mutation_12.txt",
      "20261120_1_1_0",
      "all_1_1_0",
    ];
    assert.deepEqual(activeParts(names), ["all_1_1_0"]);
    assert.deepEqual(activeParts([]), []);
  });

  test("unless they overlap, which nothing leaves behind", () => {
    assert.throws(() => activeParts(["all_1_3_1", "all_2_5_1"]), { name: "PartUnreadableError" });
  });
});
