/** GET /guide/...: the documentation site, from a folder as `npm run guide` builds one. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { guideRoutes } from "../../src/api/guide/guide-routes.ts";
import { cleanUp } from "../support/clean-up.ts";
import { assertError, openTestServer, type TestServer } from "../support/open-test-server.ts";

let folder: string;
let server: TestServer;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "oddwire-guide-"));
  await mkdir(join(folder, "assets/chunks"), { recursive: true });
  await writeFile(join(folder, "index.html"), '<script id="x">1</script><script>2</script>');
  await mkdir(join(folder, "folder"));
  for (const page of ["operations.html", "folder/index.html"])
    await writeFile(join(folder, page), "<h1>Operations</h1>");
  await writeFile(join(folder, "assets/chunks/@index.js"), "export {};");
  await writeFile(join(folder, "secret"), "no content type, not served");
  server = await openTestServer({ routes: guideRoutes(folder) });
});
after(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

function get(path: string): Promise<Response> {
  return fetch(server.url + path, { redirect: "manual" });
}

test("pages and their files need no key", async () => {
  const moved = await get("/guide");
  assert.deepEqual([moved.status, moved.headers.get("location")], [308, "guide/"]);
  for (const path of ["/guide/operations.html", "/guide/operations", "/guide/folder/"]) {
    const page = await get(path);
    assert.deepEqual([page.status, await page.text()], [200, "<h1>Operations</h1>"], path);
  }
  const script = await get("/guide/assets/chunks/@index.js");
  assert.match(String(script.headers.get("content-type")), /javascript/);
});

test("the content security policy of a page allows only its built-in scripts", async () => {
  const { headers } = await get("/guide/");
  const policy = String(headers.get("content-security-policy"));
  assert.equal(policy.match(/'sha256-[^']{44}'/g)?.length, 2);
  assert.match(policy, /default-src 'none'/);
});

test("404 for a file that is not part of the site", async () => {
  for (const path of ["/guide/secret", "/guide/..%2fpackage.json", "/guide/assets/none.js"])
    assert.equal((await get(path)).status, 404, path);
});

test("404 with the command that builds the site, until a build is complete", async (t) => {
  const place = join(folder, "later");
  const unbuilt = await openTestServer({ routes: guideRoutes(place) });
  cleanUp(t, async () => unbuilt.close());
  for (const path of ["/guide/", "/guide/stream", "/guide/operations.html"]) {
    const answer = await unbuilt.request("GET", path);
    assert.match(assertError(answer, "NOT_FOUND").message, /run `npm run guide`/);
  }
  for (const text of ["the first build", "another build"]) {
    await mkdir(join(folder, "next"));
    await writeFile(join(folder, "next/stream.html"), text);
    await rm(place, { recursive: true, force: true });
    await rename(join(folder, "next"), place);
    assert.equal((await unbuilt.request("GET", "/guide/stream")).text, text);
  }
});
