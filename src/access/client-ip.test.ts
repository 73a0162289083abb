import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import * as fc from "fast-check";
import { IpRanges } from "../base/ip-address.ts";
import { getClientIp } from "./client-ip.ts";

const trusted = new IpRanges(["10.0.0.0/8", "2001:db8::/32"]);

function getClient(
  peer: string,
  forwardedFor?: string,
  proxies: IpRanges | null = trusted,
): string {
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
  const socket = { remoteAddress: peer };
  return getClientIp({ socket, headers } as unknown as IncomingMessage, proxies);
}

test("without trusted proxies X-Forwarded-For is ignored", () => {
  assert.equal(getClient("203.0.113.7", "1.1.1.1", null), "203.0.113.7");
  assert.equal(getClient("::ffff:203.0.113.7", "1.1.1.1", null), "203.0.113.7");
});

test("X-Forwarded-For from a peer that is not a trusted proxy is ignored", () => {
  assert.equal(getClient("203.0.113.7", "1.1.1.1"), "203.0.113.7");
});

test("behind a trusted proxy the client is the first untrusted address from the right", () => {
  assert.equal(getClient("10.0.0.1", "203.0.113.7"), "203.0.113.7");
  assert.equal(getClient("10.0.0.1", "6.6.6.6, 203.0.113.7, 10.9.9.9"), "203.0.113.7");
  assert.equal(getClient("::ffff:10.0.0.1", "6.6.6.6,::ffff:203.0.113.7"), "203.0.113.7");
  assert.equal(getClient("2001:db8::1", "2001:4860::8888"), "2001:4860::8888");
});

test("a port that a proxy appends to the address is removed", () => {
  assert.equal(getClient("10.0.0.1", "6.6.6.6, 203.0.113.7:61234"), "203.0.113.7");
  assert.equal(getClient("10.0.0.1", "[2001:4860::8888]:443, 10.0.0.2:80"), "2001:4860::8888");
  assert.equal(getClient("10.0.0.1", "[2001:4860::8888]"), "2001:4860::8888");
});

test("empty elements do not count", () => {
  for (const header of ["203.0.113.7,", "203.0.113.7, ,10.0.0.2, ,"])
    assert.equal(getClient("10.0.0.1", header), "203.0.113.7", header);
});

test("without a usable header the client is the proxy itself", () => {
  for (const header of [
    undefined,
    "",
    " ",
    ",",
    "unknown",
    "1.2.3.4:",
    "[",
    "203.0.113.7, _hidden",
  ])
    assert.equal(getClient("10.0.0.1", header), "10.0.0.1", header);
  assert.equal(getClient("10.0.0.1", "junk, 10.0.0.2"), "10.0.0.2");
});

test("whatever header a client sends, its IP is the one its proxy saw", () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constant("10.0.0.9"));
  fc.assert(
    fc.property(fc.array(address), (invented) => {
      const header = [...invented, "203.0.113.7", "10.1.1.1"].join(",");
      assert.equal(getClient("10.0.0.1", header), "203.0.113.7");
    }),
  );
});

test("a closed socket has the IP 0.0.0.0", () => {
  const request = { socket: {}, headers: {} } as unknown as IncomingMessage;
  assert.equal(getClientIp(request, trusted), "0.0.0.0");
});
