import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { readFixture } from "../../test/support/read-fixture.ts";
import { toPlainLine, toPlainText } from "../base/plain-text.ts";
import { toKeccak } from "./ids/keccak.ts";
import type { EventText, QuestionText } from "./question-text.ts";
import {
  parseEventText,
  parseNegRiskQuestionText,
  parseQuestionText,
  parseRules,
  parseRulesUpdate,
} from "./question-text.ts";

type TextRow = {
  question: string;
  questionID: string;
  umaQuestionID_requestId?: string;
  negRiskMarketMetadataUtf8?: string;
  gammaMarketId: string | null;
  gammaEventId?: string;
  outcomes: [string, string];
  ancillaryDataUtf8: string;
  ancillaryDataHex: string;
};

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (text: string): QuestionText => parseQuestionText(encode(text));
const parseData = (text: string): QuestionText => parseNegRiskQuestionText(encode(text));
const parseEvent = (text: string): EventText => parseEventText(encode(text));

const caller = "91430cad2d3975766499717fa0d66a78d814e5c5";
const ending = `,initializer:${caller}`;
const prices = "p1: 0, p2: 1, p3: 0.5";
const yesNo = `${prices}. Where p1 corresponds to No, p2 to Yes, p3 to unknown/50-50`;
const nothing: QuestionText = { title: null, description: null, outcomes: null };

describe("real texts", () => {
  const rows = readFixture("chain-real/ancillary_verified.json.gz") as TextRow[];
  for (const row of rows) {
    test(row.question, () => {
      const bytes = Buffer.from(row.ancillaryDataHex.slice(2), "hex");
      assert.equal(toKeccak(bytes), row.umaQuestionID_requestId ?? row.questionID);
      const question = parseQuestionText(bytes);
      assert.equal(question.title, row.question);
      assert.deepEqual(question.outcomes, row.outcomes);
      const { gammaMarketId: id } = row;
      const mark = id === null ? " res_data: " : ` market_id: ${id} res_data: `;
      const start = `q: title: ${row.question}, description: ${question.description}${mark}`;
      assert.ok(row.ancillaryDataUtf8.startsWith(start));
    });
  }

  test("metadata of neg-risk markets", () => {
    const events = rows.filter((row) => row.negRiskMarketMetadataUtf8 !== undefined);
    assert.equal(events.length, 2);
    for (const { negRiskMarketMetadataUtf8: text = "", gammaEventId } of events) {
      const event = parseEventText(encode(text));
      assert.equal(event.title, "Democratic Presidential Nominee 2028");
      assert.equal(event.eventId, gammaEventId);
      assert.ok(text.endsWith(`, id: ${event.eventId}`));
    }
  });
});

describe("forms of a question", () => {
  const full = { title: "T", description: "D", outcomes: ["Yes", "No"] };

  test("without the caller at the end", () => {
    assert.deepEqual(parse(`q: title: T, description: D res_data: ${yesNo}`), full);
  });

  test("comma before the resolution, price for an early request", () => {
    const resolution =
      "p1: 0, p2: 1, p3: 0.5, p4: -57896044618658097711785492504343953926634992332820282019728.792003956564819968. " +
      "Where p1 corresponds to No, p2 to Yes, p3 to unknown, p4 to an early request";
    const text = `q: title: T, description: D, res_data: ${resolution}${ending}`;
    assert.deepEqual(parse(text), full);
  });

  test("labels in the other order, with an article", () => {
    const resolution = `${prices}. Where p2 corresponds to Yes, p1 to a No, p3 to unknown/50-50`;
    const text = `q: title: T, description: D res_data: ${resolution}${ending}`;
    assert.deepEqual(parse(text), full);
  });

  test("labels with commas and quotes", () => {
    const resolution = `${prices}. Where p1 corresponds to "B, Jr.", p2 to A, the first, p3 to unknown`;
    const { outcomes } = parse(`q: title: T, description: D res_data: ${resolution}`);
    assert.deepEqual(outcomes, ["A, the first", '"B, Jr."']);
  });

  test("the description keeps its own white space", () => {
    const kept = (description: string) =>
      parse(`q: title: T, description: ${description} market_id: 7 res_data: ${yesNo}`).description;
    for (const description of ["", " a\n", "a\n\n", "“a” ", "  "]) {
      assert.equal(kept(description), description);
    }
    const withoutSpace = `q: title: T, description: a\nres_data: ${yesNo}`;
    assert.equal(parse(withoutSpace).description, "a\n");
  });

  test("marks inside title and description", () => {
    const title = "q: title: a, b: res_data: market_id: 5";
    const description = "x, description: title: y market_id: 6 res_data: p1: 1 ,initializer:00 z";
    const text = `q: title: ${title}, description: ${description} market_id: 7 res_data: ${yesNo}${ending}`;
    assert.deepEqual(parse(text), { title, description, outcomes: ["Yes", "No"] });
  });

  test("a market id that is not a number belongs to the description", () => {
    const text = `q: title: T, description: the market_id: seven res_data: ${yesNo}`;
    assert.equal(parse(text).description, "the market_id: seven");
  });

  test("without a resolution", () => {
    const expected = { ...nothing, title: "T", description: "D market_id: 7 " };
    assert.deepEqual(parse("q: title: T, description: D market_id: 7 "), expected);
  });

  test("without a title, nothing is parsed", () => {
    assert.deepEqual(parse(`q: title:  , description: D res_data: ${yesNo}${ending}`), nothing);
    assert.deepEqual(parse(`Will it rain?${ending}`), nothing);
  });

  test("the caller at the end does not belong to the description", () => {
    const expected = { ...nothing, title: "T", description: "D" };
    assert.deepEqual(parse(`q: title: T, description: D${ending}`), expected);
  });

  for (const [name, resolution] of Object.entries({
    "prices in another order": yesNo.replace("p1: 0, p2: 1", "p1: 1, p2: 0"),
    "empty label": `${prices}. Where p1 corresponds to , p2 to Yes, p3 to unknown`,
    "no third price": `${prices}. Where p1 corresponds to No, p2 to Yes`,
    "no labels": prices,
    nothing: "",
  })) {
    test(`no outcomes: ${name}`, () => {
      const text = `q: title: T, description: D res_data: ${resolution}`;
      assert.deepEqual(parse(text), { ...nothing, title: "T", description: "D" });
    });
  }

  for (const [name, tail] of Object.entries({
    "too short": ending.slice(0, -1),
    "too long": `${ending}0`,
    "not hex": ending.replace("9143", "zzzz"),
    "not last": `${ending} `,
  })) {
    test(`no caller: ${name}`, () => {
      const expected = { ...nothing, title: "T", description: `D${tail}` };
      assert.deepEqual(parse(`q: title: T, description: D${tail}`), expected);
    });
  }
});

describe("forms of a neg-risk question", () => {
  test("UMA text, or only its start", () => {
    const text = `q: title: T, description: D market_id: 7 res_data: ${yesNo}`;
    assert.deepEqual(parseData(text), parse(text));
    const expected = { ...nothing, title: "T", description: "D" };
    assert.deepEqual(parseData("title: T, description: D"), expected);
  });

  test("JSON", () => {
    const expected = { ...nothing, title: "T", description: "D" };
    assert.deepEqual(parseData('{"title":"T","description":"D"}'), expected);
    assert.equal(parseData('{"title":"a\\ud800"}').title, "a\ufffd");
  });

  test("any other short text is the title", () => {
    for (const text of ["Arsenal", " “É” ", "{}", "{not json}", '"T"', '{"title":5}', "null"]) {
      assert.deepEqual(parseData(text), { ...nothing, title: text });
    }
  });

  test("text that is empty, too long or too deeply nested has no fields", () => {
    for (const text of ["", " \n", "x".repeat(257), "[".repeat(8000), '{"title":'.repeat(800)]) {
      assert.deepEqual(parseData(text), nothing);
    }
  });
});

describe("forms of an event", () => {
  test("marks inside title and description", () => {
    const text = "title: a, id: 1, description: b, description: c, id: 2, id: 3";
    assert.deepEqual(parseEvent(text), { title: "a, id: 1", eventId: "3" });
  });

  test("without an id", () => {
    const expected = { title: "T", eventId: null };
    assert.deepEqual(parseEvent("title: T, description: D, id: x"), expected);
  });

  test("without a title", () => {
    for (const text of ["", "T", "title: T", "title: , description: D, id: 1"]) {
      assert.deepEqual(parseEvent(text), { title: null, eventId: null });
    }
  });
});

describe("hostile bytes", () => {
  test("invalid UTF-8 is not text", () => {
    const start = encode("title: T, description: D");
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x80], [0xf5, 0, 0, 0]]) {
      const text = new Uint8Array([...start, ...bytes]);
      assert.deepEqual(parseQuestionText(text), nothing);
      assert.deepEqual(parseNegRiskQuestionText(text), nothing);
      assert.equal(parseEventText(text).title, null);
    }
  });

  test("more bytes than an adapter accepts are not text", () => {
    const start = "title: T, description: ";
    const longest = start + "é".repeat((8139 - start.length) / 2);
    assert.equal(encode(longest).length, 8139);
    assert.equal(parse(longest).title, "T");
    assert.deepEqual(parse(`${longest}.`), nothing);
  });

  test("control characters become spaces; direction marks and a byte order mark are kept", () => {
    const written = "\u0000\u202ea\u2066\u001b[31m\n\ufeff<b>\u{10ffff}";
    const text = `q: title: ${written}, description: ${written} res_data: ${yesNo}`;
    const title = " \u202ea\u2066 [31m \ufeff<b>\u{10ffff}";
    assert.equal(parse(text).title, title);
    assert.equal(parse(text).description, " \u202ea\u2066 [31m\n\ufeff<b>\u{10ffff}");
    assert.equal(parseData(JSON.stringify({ title: written })).title, title);
    assert.equal(parseEvent(`title: ${written}, description: D, id: 1`).title, title);
    assert.equal(parseData(written).title, title);
    assert.deepEqual(parse(`\ufeff${text}`), nothing);
  });

  test("of marks repeated as often as a text has room for, the first of each counts", () => {
    const start = `title: T, description: D res_data: ${prices}. `;
    for (const [first, second] of [
      ["p1", "p2"],
      ["p2", "p1"],
    ] as const) {
      const opening = `Where ${first} corresponds to `.repeat(150);
      const middle = `, ${second} to `.repeat(400);
      assert.equal(parse(start + opening + middle).outcomes, null);
      const labels = [
        `Where ${first} corresponds to `.repeat(149),
        `, ${second} to `.repeat(399),
      ] as const;
      const [one = "", other = ""] = first === "p2" ? labels : labels.toReversed();
      assert.deepEqual(parse(`${start}${opening}${middle}, p3 to `).outcomes, [
        one.trim(),
        other.trim(),
      ]);
    }
  });

  const fragment = fc.oneof(
    fc.constantFrom("q: ", "title: ", ", description: ", " market_id: ", "7", " res_data: "),
    fc.constantFrom(prices, ". Where p1 corresponds to ", ", p2 to ", ", p3 to ", ", id: "),
    fc.constantFrom(",initializer:", caller, "{", '"title":', "}", "\u0000"),
    fc.string({ unit: "binary" }),
  );
  const anyText = fc.array(fragment).map((parts) => encode(parts.join("")));
  const genuine = `q: title: T, description: D market_id: 7 res_data: ${yesNo}${ending}`;
  const damagedText = fc
    .tuple(fc.nat(genuine.length), fc.nat(9), fragment)
    .map(([at, length, part]) => encode(genuine.slice(0, at) + part + genuine.slice(at + length)));
  const anyBytes = fc.oneof(fc.uint8Array({ maxLength: 200 }), anyText, damagedText);

  test("any bytes are parsed without an exception, and every field is part of the text", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const decoded = toPlainText(Buffer.from(bytes).toString("utf8"));
        const text = decoded + toPlainLine(decoded);
        const question = parseQuestionText(bytes);
        const { title, description, outcomes } = question;
        for (const field of [title, description, ...(outcomes ?? [])]) {
          assert.ok(field === null || text.includes(field));
        }
        parseEventText(bytes);
        parseRules(bytes);
        parseRulesUpdate(bytes);
        const { title: negRiskTitle } = parseNegRiskQuestionText(bytes);
        if (title !== null) assert.equal(negRiskTitle, title);
      }),
      { numRuns: 2000 },
    );
  });

  test("the fields of a generated question are parsed back", () => {
    const word = fc
      .string({ unit: "grapheme" })
      .filter((text) => !/[:,\p{Cc}\p{Zl}\p{Zp}]/u.test(text));
    const label = word.filter((text) => !/^\s*$|^\s*a /.test(text));
    const parts = fc.record({ title: label, description: word, first: label, second: label });
    fc.assert(
      fc.property(parts, fc.nat(), ({ title, description, first, second }, id) => {
        const labels = `Where p1 corresponds to ${second}, p2 to ${first}, p3 to unknown/50-50`;
        const text = `q: title: ${title}, description: ${description} market_id: ${id} res_data: ${prices}. ${labels}${ending}`;
        const outcomes = [first.trim(), second.trim()];
        assert.deepEqual(parse(text), { title, description, outcomes });
      }),
    );
  });
});
