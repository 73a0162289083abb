/** The rules of questions of Protocol V2. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFixture } from "../../test/support/read-fixture.ts";
import { toKeccak } from "./ids/keccak.ts";
import {
  parseQuestionText,
  parseRules,
  parseRulesUpdate,
  type QuestionText,
} from "./question-text.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const caller = "91430cad2d3975766499717fa0d66a78d814e5c5";
const prices = "p1: 0, p2: 1, p3: 0.5";
const yesNo = `${prices}. Where p1 corresponds to No, p2 to Yes, p3 to unknown/50-50`;
const nothing: QuestionText = { title: null, description: null, outcomes: null };
const real = readFixture("real/gen3-text.json.gz") as {
  readonly l1_ancillary_data_text: string;
  readonly oo_reporter: string;
  readonly request_rules_utf8: string;
  readonly expected: { readonly title: string; readonly outcomes: readonly [string, string] };
};
const rules = (text: string): QuestionText => parseRules(encode(text));
const { title, outcomes } = real.expected;
const fields = JSON.parse(real.request_rules_utf8) as Record<string, string>;
const expected = { title, description: fields["description"] ?? null, outcomes };
const stamp = `,ooRequester:${real.oo_reporter.slice(2)}`;

test("a real text, also as the oracles stamp it", () => {
  const text = real.request_rules_utf8;
  assert.deepEqual(rules(text), expected);
  const [, hash] = /^ancillaryDataHash:([0-9a-f]{64}),/.exec(real.l1_ancillary_data_text) ?? [];
  assert.equal(toKeccak(encode(text + stamp)), `0x${hash}`);
  const child = `,childRequester:${caller},childChainId:137`;
  for (const stamps of [stamp, stamp + child, `,initializer:${caller}${stamp}`, "\n"]) {
    assert.deepEqual(rules(text + stamps), expected);
  }
});

test("other orders of fields, more fields, and escapes", () => {
  const entries = Object.entries(fields);
  assert.deepEqual(rules(JSON.stringify(Object.fromEntries(entries.toReversed()))), expected);
  const nested = { meta: { title: "x", res_data: "y" }, tags: [{ title: "z" }], ...fields };
  assert.deepEqual(rules(JSON.stringify(nested, null, 2)), expected);
  const escaped = real.request_rules_utf8.replaceAll(/[^\\"nbfrtu]/g, (character) =>
    /[a-z{}:,]/.test(character)
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  assert.deepEqual(rules(escaped), expected);
});

test("other labels, in either order", () => {
  const sentences = {
    [`${prices}. Where p1 corresponds to Down, p2 to Up, p3 to unknown/50-50.`]: ["Up", "Down"],
    [`${prices}. Where p2 corresponds to Team "A", p1 to B, Jr., p3 to a draw`]: [
      'Team "A"',
      "B, Jr.",
    ],
    [`${prices}. Where p1 corresponds to \tNo\u0000, p2 to Y\nes\u0007, p3 to a draw`]: [
      "Y es",
      "No",
    ],
  };
  for (const [resolution, labels] of Object.entries(sentences)) {
    assert.deepEqual(rules(JSON.stringify({ ...fields, res_data: resolution })).outcomes, labels);
  }
});

test("labels are unknown when the prices or the sentence have another form", () => {
  for (const resolution of [
    "",
    "p1: 1, p2: 0, p3: 0.5. Where p1 corresponds to No, p2 to Yes, p3 to unknown/50-50",
    "0: A, 1: B, 2: C",
    yesNo.replace(", p3 to", ", p4 to"),
    yesNo.toUpperCase(),
    null,
    7,
    [yesNo],
    { p1: "No", p2: "Yes" },
    yesNo.replace("to No", "to \u0001"),
  ]) {
    const text = JSON.stringify({ ...fields, res_data: resolution });
    assert.deepEqual(rules(text), { ...expected, outcomes: null });
  }
});

test("values of another type are unknown; the other fields are parsed", () => {
  for (const value of [null, 7, true, [], ["T"], {}, { en: "T" }, "", " \n"]) {
    assert.deepEqual(rules(JSON.stringify({ ...fields, title: value })), {
      ...expected,
      title: null,
    });
    const { description } = rules(JSON.stringify({ ...fields, description: value }));
    assert.equal(description, null);
  }
  assert.deepEqual(rules("{}"), nothing);
  assert.equal(rules('{"title":"a\\ud800"}').title, "a\ufffd");
});

test("of a repeated field the last one counts", () => {
  const again = `,"title":"B","res_data":${JSON.stringify(yesNo.replace("Yes", "Sí"))}}`;
  const text = real.request_rules_utf8.slice(0, -1) + again;
  assert.deepEqual(rules(text), { ...expected, title: "B", outcomes: ["Sí", "No"] });
});

test("text that is cut, too long or nothing of the kind has no fields", () => {
  const text = real.request_rules_utf8;
  for (const length of [1, 20, 500, text.length - 1]) {
    assert.deepEqual(rules(text.slice(0, length)), nothing);
  }
  for (const broken of [
    "",
    "null",
    "[]",
    '"T"',
    `${text} and more`,
    `${text}${stamp}-`,
    `[${text}]`,
  ]) {
    assert.deepEqual(rules(broken), nothing);
  }
  const huge = JSON.stringify({ ...fields, description: "x".repeat(3_000_000) });
  for (const long of [huge, "[".repeat(3_000_000), '{"title":'.repeat(5_000), "}".repeat(60_000)]) {
    assert.deepEqual(rules(long), nothing);
  }
});

test("UMA text, as in recordings", () => {
  const text = `q: title: T, description: D market_id: 7 res_data: ${yesNo}`;
  assert.deepEqual(rules(text), parseQuestionText(encode(text)));
});

test("updates are plain text, or JSON with a description", () => {
  const update = (text: string) => parseRulesUpdate(encode(text));
  assert.equal(update("The deadline is noon."), "The deadline is noon.");
  assert.equal(update('{"description":"D"}'), "D");
  for (const text of ["", " ", '{"title":"T"}', '{"description":5}', "x".repeat(70_000)]) {
    assert.equal(update(text), null);
  }
});
