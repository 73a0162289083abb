import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { errorTable } from "../../src/base/errors.ts";
import { DataServer } from "../support/open-data-server.ts";
import { assertError, assertEveryHeader } from "../support/open-test-server.ts";

const server = await DataServer.open({ finalBlocks: 2, unfinalizedBlocks: 0 });
after(() => server.close());

const { edge } = server;
const answer = await edge.request("GET", "/docs");
const page = answer.text;

test("200: a page, without a key", () => {
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "private, max-age=300");
  assert.equal(assertEveryHeader(answer.headers).limit, 100);
  assert.match(page, /^<!doctype html>\n<html lang="en">/);
  assert(page.length < 200_000, `${page.length} bytes`);
});

test("200: it needs nothing from elsewhere, and may have nothing", () => {
  assert.doesNotMatch(
    page,
    /<script|<link|<img|<iframe|<form|@import|url\(|\son\w+=|\sstyle=|\ssrc=/i,
  );
  const [style = "", ...others] = [...page.matchAll(/<style>(.*?)<\/style>/gs)].map(
    ([, css]) => css,
  );
  assert.deepEqual(others, []);
  const hash = createHash("sha256").update(style).digest("base64");
  assert.equal(
    answer.headers.get("content-security-policy"),
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; ` +
      "frame-ancestors 'none'",
  );
});

test("200: every endpoint is there, with how to call it, and so is every error code", () => {
  for (const { method, path, upgrade } of server.routes) {
    const heading = new RegExp(
      `<h3 id="\\w+"><span class="\\w+">${method}</span> <a href="#\\w+">`,
    );
    assert.match(page, heading);
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
    const call = upgrade === undefined ? `&#34;$URL${filled}` : `new WebSocket(&#34;ws://`;
    assert(page.includes(call), `${method} ${path}`);
  }
  for (const code of Object.keys(errorTable)) assert(page.includes(`<tr id="${code}">`), code);
});

test("200: every link leads somewhere, and every id is there once", () => {
  const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length);
  const links = [...page.matchAll(/\shref="([^"]*)"/g)].map(([, link]) => link ?? "");
  assert(links.length > 100);
  for (const link of links)
    assert(link === "/v1/openapi.json" || ids.includes(link.slice(1)), link);
});

test("200: what stands in it is text, whatever it holds", () => {
  const text = page.replaceAll(/<[^<>]*>/g, "").replace(/[^]*<\/style>/, "");
  assert.doesNotMatch(text, /[<>]|&(?!#\d+;)/);
  assert.doesNotMatch(page, /undefined|\[object/);
});

test("400: parameters", async () => {
  assertError(await edge.request("GET", "/docs?theme=dark"), "VALIDATION_ERROR");
});

test("404: there is nothing below", async () => {
  assertError(await edge.request("GET", "/docs/"), "NOT_FOUND");
});

test("405: any other method", async () => {
  assertError(await edge.request("POST", "/docs"), "METHOD_NOT_ALLOWED");
});

test("429: over the limit of the IP", async () => {
  edge.clock.advance(60_000);
  for (let sent = 0; sent < 100; sent += 1)
    assert.equal((await edge.request("HEAD", "/docs")).status, 200);
  assertError(await edge.request("GET", "/docs"), "RATE_LIMITED");
});
