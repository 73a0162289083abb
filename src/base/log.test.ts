import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { generateKey } from "../access/key-format.ts";
import { formatForTerminal, lineOptions, redactLine } from "./log.ts";

function logged(facts: Readonly<Record<string, unknown>>, message = "said"): string {
  const lines: string[] = [];
  const stream = { write: (line: string) => lines.push(line) };
  pino({ ...lineOptions, hooks: { streamWrite: redactLine } }, stream).info(facts, message);
  assert.equal(lines.length, 1);
  JSON.parse(lines[0] ?? "");
  return lines[0] ?? "";
}

test("an API key is redacted at any depth and under any name", () => {
  const key = generateKey("admin");
  const cause = new Error(`no key ${key} in "${key}"`);
  const line = logged(
    {
      list: [{ deep: { value: key } }],
      [key]: 1,
      err: new Error("outer", { cause: Object.assign(cause, { request: { key } }) }),
    },
    `with ${key}`,
  );
  assert(!line.includes(key.slice("ow_admin_".length + 4)), line);
  assert.match(line, /ow_admin_\*\*\*/);
});

test("fields of secrets are redacted at any depth, whatever they contain", () => {
  const headers = {
    "X-API-Key": 'a "quoted\\ secret',
    authorization: "Bearer secret",
    host: "kept",
  };
  const line = logged({ request: { raw: { headers: { ...headers, cookie: "secret=1" } } } });
  assert.doesNotMatch(line, /secret/);
  assert.match(line, /"host":"kept"/);
});

test("a URL is reduced to its host, also in the message and the properties of an error", () => {
  const urls = [
    "https://user:hidden@node.example.com/v3/hidden?key=hidden#hidden",
    "wss://node.example.com/hidden",
    "http://node.example.com:8545?hidden=1",
  ];
  for (const input of urls) {
    const error = Object.assign(new TypeError(`cannot reach ${input} at all`), { input });
    const line = logged({ err: error, [input]: [input] });
    assert.doesNotMatch(line, /hidden/);
    assert.match(line, /:\/\/node\.example\.com/);
    assert.match(line, / at all/);
  }
});

test("a line without secrets is not changed", () => {
  const line = '{"url":"http://127.0.0.1:8080","other":"ow_read_ab","path":"/v1/keys"}';
  assert.equal(redactLine(line), line);
});

test("the time of a line is RFC 3339, its level a name", () => {
  const line = JSON.parse(logged({}, "said")) as Record<string, unknown>;
  assert.equal(line["level"], "info");
  assert.match(String(line["time"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("a line for a terminal is readable, without keys and without escape sequences", () => {
  const key = generateKey("admin");
  const formatted = formatForTerminal()(logged({ reason: "\u001b[2Jgone\u009b2J", key }, "said"));
  assert.match(formatted, /INFO.*said/);
  assert.match(formatted, /\[2Jgone/);
  assert(
    !formatted.includes("\u001b[2J") && !formatted.includes("\u009b") && !formatted.includes(key),
  );
});

test("no log line has control or direction characters, nor a line that a text forges", () => {
  const text = "a\u202eb\u2066\u0085\u007f\u2028\u001b]0;t\u0007\n12:00:00 INFO forged";
  const line = logged({ reason: text, err: new Error(text) }, text);
  const formatted = formatForTerminal()(line);
  assert.doesNotMatch(formatted.replace("\r\u001b[K", ""), /[^\P{C}\n]|\u2028/u);
  assert.doesNotMatch(formatted, /^12:00:00 INFO forged/m);
  assert.match(formatted, /\n +at /);
});
