import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { IpRanges, isIpRange, parseIpAddress, toIpBucket } from "./ip-address.ts";

test("every spelling of an address has one canonical form", () => {
  assert.equal(parseIpAddress("203.0.113.7"), "203.0.113.7");
  assert.equal(parseIpAddress("::ffff:203.0.113.7"), "203.0.113.7");
  assert.equal(parseIpAddress("::FFFF:cb00:7107"), "203.0.113.7");
  assert.equal(parseIpAddress("0:0:0:0:0:ffff:203.0.113.7"), "203.0.113.7");
  assert.equal(parseIpAddress("2001:DB8:0:0:0:0:0:1"), "2001:db8::1");
  assert.equal(parseIpAddress("fe80::1%eth0"), "fe80::1");
});

test("text that is not an address is refused", () => {
  for (const text of ["", "unknown", "1.2.3", "01.2.3.4", "1.2.3.4:80", "[::1]", " 1.2.3.4", "::g"])
    assert.equal(parseIpAddress(text), null, text);
});

test("the bucket of an IPv6 address is its /64, that of an IPv4 address is itself", () => {
  assert.equal(toIpBucket("203.0.113.7"), "203.0.113.7");
  assert.equal(toIpBucket("::1"), "0:0:0:0::/64");
  assert.equal(toIpBucket("2001:db8::1"), "2001:db8:0:0::/64");
  assert.equal(toIpBucket("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  assert.equal(toIpBucket("64:ff9b::192.0.2.1"), "64:ff9b:0:0::/64");
});

function bucketOfGroups(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16)).join(":");
  return toIpBucket(parseIpAddress(text) ?? "");
}

test("two IPv6 addresses share a bucket exactly when their first four groups are equal", () => {
  const groups = fc.array(fc.constantFrom(0, 1, 0xffff), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(groups, groups, (one, other) => {
      // The IPv4-mapped range has a bucket for each IPv4 address.
      fc.pre(one[0] !== 0 && other[0] !== 0);
      const sameStart = one.slice(0, 4).join() === other.slice(0, 4).join();
      assert.equal(bucketOfGroups(one) === bucketOfGroups(other), sameStart);
    }),
  );
});

test("ranges contain their addresses and no others", () => {
  const ranges = new IpRanges(["10.0.0.0/8", "203.0.113.7", "2001:db8::/32"]);
  assert.equal(ranges.contains("10.255.0.1"), true);
  assert.equal(ranges.contains("11.0.0.1"), false);
  assert.equal(ranges.contains("203.0.113.7"), true);
  assert.equal(ranges.contains("203.0.113.8"), false);
  assert.equal(ranges.contains("2001:db8:ffff::1"), true);
  assert.equal(ranges.contains("2001:db9::1"), false);
  assert.equal(new IpRanges(["::/0"]).contains("::1"), true);
  assert.equal(new IpRanges(["::/0"]).contains("127.0.0.1"), false);
  assert.equal(new IpRanges(["0.0.0.0/0"]).contains("2001:db8::1"), false);
});

test("a malformed range is refused", () => {
  for (const text of [
    "",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/08",
    "::/129",
    "::ffff:10.0.0.0/8",
    "x/8",
  ])
    assert.equal(isIpRange(text), false, text);
  assert.equal(isIpRange("::ffff:10.0.0.1"), true);
  assert.equal(isIpRange("0.0.0.0/0"), true);
});
