/** Parses valid, unusual and hostile market metadata. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { metadataLimits } from "../../base/config/venue-limits.ts";
import { parseMarket } from "./parse-market.ts";

const conditionId = `0x${"ab".repeat(32)}`;
const tokens = [
  "71321045679252212594626385532706912750332728571942532289631379312455583992563",
  "7",
];
/** A market in the venue's format, with invented values. */
const entry = {
  id: "512345",
  question: "Will it rain in Bergen?",
  groupItemTitle: "Bergen",
  conditionId,
  slug: "will-it-rain-in-bergen",
  resolutionSource: "",
  endDate: "2026-12-31T12:00:00Z",
  startDate: "2026-01-02T03:04:05.678901Z",
  image: "https://pictures.example/rain in bergen.png",
  icon: "https://pictures.example/icon.png",
  description: "Resolves to Yes if it rains.\n\nElse to No.",
  outcomes: '["Yes", "No"]',
  outcomePrices: '["1", "0"]',
  clobTokenIds: JSON.stringify(tokens),
  active: true,
  closed: true,
  liquidity: "20328.3747",
  liquidityNum: 20328.5,
  liquidityClob: 20328.3747,
  negRisk: false,
  questionID: `0x${"CD".repeat(32)}`,
  tags: [{ id: "1", label: "Weather", slug: "weather" }],
  events: [
    {
      id: "4711",
      slug: "rain-this-week",
      title: "Where will it rain this week?",
      tags: [
        { id: "1", label: "Weather" },
        { id: "2", label: "Norway" },
        { id: "3", label: "Hide From New", forceHide: true },
      ],
      category: "Science",
    },
  ],
};

function toTexts(more: Readonly<Record<string, unknown>>) {
  const market = parseMarket({ ...entry, ...more });
  assert(market !== null);
  return market.texts;
}

function getClaims(more: Readonly<Record<string, unknown>>) {
  const market = parseMarket({ ...entry, ...more });
  assert(market !== null);
  return market.claims;
}

describe("a market of the venue", () => {
  test("is parsed with all fields, including JSON inside strings", () => {
    assert.deepEqual(parseMarket(entry), {
      conditionId,
      texts: {
        slug: "will-it-rain-in-bergen",
        category: "Science",
        tags: ["Weather", "Norway"],
        eventId: "4711",
        eventSlug: "rain-this-week",
        eventTitle: "Where will it rain this week?",
        outcomeLabel: "Bergen",
        startMs: Date.UTC(2026, 0, 2, 3, 4, 5),
        endMs: Date.UTC(2026, 11, 31, 12),
        image: "https://pictures.example/rain%20in%20bergen.png",
        question: "Will it rain in Bergen?",
        description: "Resolves to Yes if it rains.\n\nElse to No.",
      },
      claims: {
        questionId: `0x${"cd".repeat(32)}`,
        negRisk: false,
        tokenIds: tokens.map((id) => `0x${BigInt(id).toString(16).padStart(64, "0")}`),
        outcomes: ["Yes", "No"],
        winnerIndex: 0,
      },
      liquidityUsd: 20_328_374_700,
    });
  });

  test("has a liquidity only if the venue reports one that can be", () => {
    const bad = [-1, "12.5", Infinity, Number.NaN, 1e300, null, {}, [7]];
    for (const liquidityClob of bad)
      assert.equal(
        parseMarket({ ...entry, liquidityClob })?.liquidityUsd === undefined,
        liquidityClob !== null,
        JSON.stringify(liquidityClob),
      );
    const { liquidityClob: _, ...older } = entry;
    assert.equal(parseMarket(older)?.liquidityUsd, 20_328_500_000);
  });

  test("of generation 3 has a condition id of 31 bytes", () => {
    const id = `0x01${"ab".repeat(30)}`;
    assert.equal(parseMarket({ ...entry, conditionId: id })?.conditionId, `${id}00`);
  });

  test("has the token ids that belong to its version, whatever other fields it has", () => {
    const positionIds = ["11", "12"];
    for (const [more, expected] of [
      [{ version: "v2", clobTokenIds: null, positionIds }, positionIds],
      [{ version: "v2", positionIds }, positionIds],
      [{ version: "v2", positionIds: JSON.stringify(positionIds) }, positionIds],
      [{ version: "v2" }, null],
      [{ version: "v2", positionIds: [11, 12] }, null],
      [{ version: "v1", positionIds, comboStatus: "active" }, tokens],
      [{ version: "v1", clobTokenIds: null, positionIds }, null],
      [{ positionIds }, tokens],
      [{ version: null, positionIds }, tokens],
      [{ version: 2, positionIds }, tokens],
    ] as const) {
      const tokenIds = getClaims(more).tokenIds?.map((id) => BigInt(id).toString()) ?? null;
      assert.deepEqual(tokenIds, expected, JSON.stringify(more));
    }
  });

  test("can have plain lists instead of JSON strings, as for older clients", () => {
    const { tokenIds, outcomes } = getClaims({ clobTokenIds: tokens, outcomes: ["Up", "Down"] });
    assert.equal(tokenIds?.length, 2);
    assert.deepEqual(outcomes, ["Up", "Down"]);
  });

  test("without a valid condition id is null", () => {
    for (const id of [undefined, null, "", 7, "0x12", [conditionId], { conditionId }]) {
      assert.equal(parseMarket({ ...entry, conditionId: id }), null);
    }
    for (const value of [null, undefined, 7, "text", true, [], [entry]]) {
      assert.equal(parseMarket(value), null);
    }
  });

  test("has a category from any field that can have one, or none", () => {
    assert.equal(toTexts({ category: "Crypto" }).category, "Crypto");
    assert.equal(toTexts({ categories: [{ label: "Sports" }] }).category, "Sports");
    assert.equal(toTexts({ events: [] }).category, null);
  });

  test("can have dates in every format of the venue", () => {
    for (const [text, ms] of [
      ["2026-05-08 20:00:00+00", Date.UTC(2026, 4, 8, 20)],
      ["2026-05-08T20:00:00.5-02:30", Date.UTC(2026, 4, 8, 22, 30)],
      ["2026-05-08T20:00:00", Date.UTC(2026, 4, 8, 20)],
      ["2500-12-31", Date.UTC(2500, 11, 31)],
      ["9999-12-31T23:59:59Z", Date.UTC(9999, 11, 31, 23, 59, 59)],
      ["9999-12-31T23:59:59-01:00", null],
      ["2026-13-01", null],
      ["0001-01-01T00:00:00Z", null],
      ["tomorrow", null],
      ["", null],
    ] as const) {
      assert.equal(toTexts({ endDate: text }).endMs, ms, text);
    }
    assert.equal(toTexts({ endDate: null, endDateIso: "2026-05-08" }).endMs, Date.UTC(2026, 4, 8));
  });

  test("has a winner only when it is closed and exactly one price is 1", () => {
    for (const [more, winner] of [
      [{}, 0],
      [{ outcomePrices: '["0", "1"]' }, 1],
      [{ closed: false }, null],
      [{ closed: "true" }, null],
      [{ outcomePrices: '["0", "0"]' }, null],
      [{ outcomePrices: '["0.58", "0.42"]' }, null],
      [{ outcomePrices: '["1", "1"]' }, null],
      [{ outcomePrices: "[1, 0]" }, null],
      [{ outcomePrices: "[" }, null],
      [{ outcomePrices: null }, null],
    ] as const) {
      assert.equal(getClaims(more).winnerIndex, winner, JSON.stringify(more));
    }
  });

  test("has only image URLs that are https", () => {
    const others = [
      "javascript:alert(1)",
      "data:image/png;base64,AA",
      "http://a/b.png",
      "x",
      7,
      null,
    ];
    for (const image of others) assert.equal(toTexts({ image, icon: image }).image, null);
    assert.equal(toTexts({ image: 7 }).image, entry.icon);
  });

  test("is bounded in size, whatever is in it", () => {
    const long = "a".repeat(1_000_000);
    const many = Array.from({ length: 10_000 }, (_, i) => ({ label: `tag ${i}` }));
    const market = parseMarket({
      ...entry,
      slug: long,
      question: long,
      description: long,
      category: long,
      image: `https://a/${long}`,
      icon: null,
      tags: many,
      outcomes: JSON.stringify([long, long]),
      clobTokenIds: JSON.stringify(Array.from({ length: 300 }, String)),
      endDate: long,
      endDateIso: long,
      questionID: long,
      events: [{ id: long, slug: long, tags: many }],
    });
    assert(market !== null);
    assert.ok(JSON.stringify(market).length < 30_000);
    const { slug, question, description, tags, image, endMs, eventId } = market.texts;
    assert.deepEqual([slug, image, endMs, eventId], [null, null, null, null]);
    assert.equal(question?.length, metadataLimits.questionLengthMax);
    assert.equal(description?.length, metadataLimits.descriptionLengthMax);
    assert.equal(tags.length, metadataLimits.tagsMax);
    assert.equal(market.claims.tokenIds, null);
  });

  test("keeps markup as plain text, and replaces or drops invalid text", () => {
    const { question, slug } = toTexts({ question: "<b>A\u0000\u2028B</b>\ud800", slug: "a b" });
    assert.equal(question, "<b>A B</b>\ufffd");
    assert.equal(slug, null);
    assert.equal(toTexts({ slug: "a\u0000b" }).slug, null);
    assert.equal(toTexts({ question: " \n " }).question, null);
  });

  test("is parsed from any input without an exception, and has the declared types", () => {
    const anything = fc.record(
      Object.fromEntries(Object.keys(entry).map((name) => [name, fc.jsonValue()])),
    );
    const property = fc.property(fc.oneof(anything, fc.jsonValue()), (value) => {
      for (const reported of [value, Object.assign({}, value, { conditionId })]) {
        const market = parseMarket(reported);
        if (market === null) continue;
        const { slug, tags, startMs, endMs } = market.texts;
        assert.ok(slug === null || (slug !== "" && !/[\s\p{C}]/u.test(slug)));
        assert.ok(tags.every((tag) => tag !== "" && tag === tag.trim()));
        for (const ms of [startMs, endMs]) assert.ok(ms === null || Number.isSafeInteger(ms));
      }
    });
    fc.assert(property, propertySettings(500));
  });
});
