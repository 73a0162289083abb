import assert from "node:assert/strict";
import { test } from "node:test";
import { unknownPath } from "./unknown-path.ts";

const routes = [
  "/",
  "/docs",
  "/order/{id}",
  "/guide/{one}/{two}",
  "/v1/markets",
  "/v1/orders/{id}",
];

test("a path unlike all others gets no suggestion", () => {
  for (const path of ["/comments", "/graphql", "/subgraphs/name/polymarket", "/v1/time", "/v1"])
    assert.equal(unknownPath(path, routes).message, "There is no such path; see /docs", path);
});

test("lists are suggested before pages of the explorer, which API clients never get", () => {
  const suggestions = {
    "/orders/0x12": "/v1/orders/{id}",
    "/order": "/order/{id}",
    "/doc": "/docs",
    "/market": "/v1/markets",
  };
  for (const [path, meant] of Object.entries(suggestions)) {
    const { message } = unknownPath(path, routes);
    assert.equal(message, `There is no such path; did you mean ${meant}? See /docs`);
  }
  assert.equal(unknownPath("/v1/doc", routes).message, "There is no such path; see /docs");
});
