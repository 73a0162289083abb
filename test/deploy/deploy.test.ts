/** Everything that `deploy/` refers to exists: metrics, settings, files, run books. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { metricTable } from "../../src/api/metrics/metric-table.ts";
import { allSettings } from "../../src/base/config/config.ts";
import { readText } from "../tidy/project-files.ts";

const alerts = readText("deploy/alerts.yml");
const dashboard = readText("deploy/grafana/oddwire.json");

test("every metric in the alerts and the dashboard exists", () => {
  const existing = new Set(metricTable.flatMap(({ name }) => [name, `${name}_bucket`]));
  const histograms = /^oddwire_(?:http_request|store_query|store_insert)_duration_seconds_bucket$/;
  for (const text of [alerts, dashboard]) {
    const named = new Set(text.match(/\b(?:oddwire|process|nodejs)_\w+/g));
    assert.ok(named.size > 8);
    const unknown = [...named].filter((name) => !existing.has(name) && !histograms.test(name));
    assert.deepEqual(unknown, []);
  }
});

test("alerts and run books are the same, in the same order", () => {
  const named = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const headings = [...readText("docs/operations.md").matchAll(/^### (Oddwire\w+)$/gm)];
  assert.ok(named.length > 8);
  assert.deepEqual(
    headings.map(([, name]) => name),
    named,
  );
});

test("alerts on missing changes have a `for` duration: one sample has no changes", () => {
  const rules = alerts.split("- alert: ").filter((rule) => rule.includes("changes("));
  const hasty = rules.filter((rule) => !/and changes\(.*\) > 0$|^ +for: /m.test(rule));
  assert.ok(rules.length > 2);
  assert.deepEqual(hasty, []);
});

test("every alert links to its run book", () => {
  const links = [
    ...alerts.matchAll(
      /runbook_url: http:\/\/\{\{ \$labels\.instance \}\}\/guide\/operations\.html#(\w+)$/gm,
    ),
  ];
  const named = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name.toLowerCase());
  assert.deepEqual(
    links.map(([, anchor]) => anchor),
    named,
  );
});

test("the dashboard can be imported: data source and instance are variables, and each panel has a description", () => {
  type Panel = {
    readonly type: string;
    readonly description?: string;
    readonly datasource?: { uid: string };
  };
  const { panels } = JSON.parse(dashboard) as { panels: readonly Panel[] };
  const drawn = panels.filter(({ type }) => type !== "row");
  assert.ok(drawn.length > 20);
  for (const panel of drawn) {
    assert.ok((panel.description ?? "").length > 10);
    assert.equal(panel.datasource?.uid, "${DS_PROMETHEUS}");
  }
  const expressions = dashboard.match(/"expr": .*/g) ?? [];
  for (const line of expressions) assert.match(line, /instance=~\\"\$instance\\"/);
});

test("all instances of the dashboard are those of the selected role", () => {
  type Variable = { readonly name: string; readonly query: string; readonly allValue?: string };
  const { templating } = JSON.parse(dashboard) as { templating: { list: readonly Variable[] } };
  const instance = templating.list.find(({ name }) => name === "instance");
  assert.match(instance?.query ?? "", /role=~"\$role"/);
  // With one, Grafana puts it into the queries in place of the instances of the role.
  assert.equal(instance?.allValue, undefined);
});

test("the dashboard equals the output of dashboard.ts", () => {
  const path = fileURLToPath(new URL("../../deploy/grafana/dashboard.ts", import.meta.url));
  const made = execFileSync(process.execPath, [path], { encoding: "utf8" });
  assert.ok(made === dashboard, "run npm run docs");
});

test("the unit writes no core files, which would contain keys", () => {
  assert.match(readText("deploy/oddwire.service"), /^LimitCORE=0$/m);
});

test("every setting named in deploy/ exists", () => {
  const existing = new Set(allSettings().map(({ variable }) => variable as string));
  for (const file of [
    "Dockerfile",
    "compose.yaml",
    ".env.example",
    "oddwire.service",
    "prometheus.yml",
    "cluster/compose.nodes.yaml",
  ]) {
    const named = readText(`deploy/${file}`).match(/\bODDWIRE_\w+/g) ?? [];
    assert.deepEqual(
      named.filter((name) => !existing.has(name)),
      [],
      file,
    );
  }
});

test("files that the image copies and the containers mount exist", () => {
  const copied = [...readText("deploy/Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)];
  const mounted = [...readText("deploy/compose.yaml").matchAll(/- \.\/(\S+?):/g)];
  const nodes = readText("deploy/cluster/compose.nodes.yaml").matchAll(/\.\/(config\/\S+?):/g);
  const paths = [
    ...copied.flatMap(([, names = ""]) => names.split(" ")),
    ...mounted.map(([, path]) => `deploy/${path}`),
    ...[...nodes].map(([, path]) => `deploy/cluster/${path}`),
  ];
  assert.ok(paths.length > 8);
  const missing = paths.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)));
  assert.deepEqual(missing, []);
  const sent: readonly string[] =
    readText("deploy/Dockerfile.dockerignore").match(/(?<=^!).+/gm) ?? [];
  const taken = copied.flatMap(([, names = ""]) => names.split(" "));
  assert.deepEqual(
    taken.filter((path) => !sent.includes(path)),
    [],
    "paths that are not sent to the builder",
  );
});

test("the balancer and Prometheus of a cluster list exactly its processes", () => {
  const compose = readText("deploy/cluster/compose.nodes.yaml");
  const services = [...compose.matchAll(/^ {2}((?:api|index|redis)-\d): \{/gm)].map(
    ([, name = ""]) => name,
  );
  const clickhouse = readText("deploy/cluster/compose.small.yaml").matchAll(
    /hostname: (clickhouse-\S+)$/gm,
  );
  const balancer = readText("deploy/cluster/config/haproxy.cfg");
  const balanced = [...balancer.matchAll(/^ {2}server (\S+) \1:\d+/gm)].map(
    ([, name = ""]) => name,
  );
  const apis = services.filter((name) => name.startsWith("api"));
  assert.deepEqual(balanced.toSorted(), [
    // Of those that are ready, and of those that are alive.
    ...[...apis, ...apis].toSorted(),
    ...[...clickhouse].map(([, name = ""]) => name),
    ...services.filter((name) => name.startsWith("redis")),
  ]);
  const scraped = readText("deploy/cluster/config/prometheus.yml").matchAll(/"(\S+?):9464"/g);
  assert.deepEqual(
    [...scraped].map(([, name = ""]) => name).toSorted(),
    services.filter((name) => !name.startsWith("redis")).toSorted(),
  );
});

test("the image is built from the files that its build stage copies", async () => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-image-"));
  const [, stage = ""] = readText("deploy/Dockerfile").split(/^FROM .* AS build$/m);
  const [build = ""] = stage.split(/^FROM /m);
  const ignored = readText("deploy/Dockerfile.dockerignore").split("\n");
  for (const [, words = ""] of build.matchAll(/^COPY (.*)$/gm)) {
    const paths = words.split(" ");
    const target = paths.pop() ?? "";
    for (const path of paths) {
      assert(ignored.includes(`!${path}`), `${path} is not ignored`);
      const end = target.endsWith("/") ? join(target, basename(path)) : target;
      await cp(resolve(path), join(folder, end), { recursive: true });
    }
  }
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  execFileSync(process.execPath, ["deploy/build-package.ts"], { cwd: folder, stdio: "pipe" });
  assert(existsSync(join(folder, "dist/cli.js")));
  await rm(folder, { recursive: true });
});

test("the start script runs through a link, like the command of the image", async () => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const link = join(folder, "oddwire");
  await symlink(fileURLToPath(new URL("../../bin/oddwire", import.meta.url)), link);
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  assert.match(execFileSync(link, ["help"], { encoding: "utf8", env }), /^Usage: oddwire /);
  await rm(folder, { recursive: true });
});

test("the notes of a release are the section of its version in the changelog", () => {
  const notes = execFileSync(resolve("deploy/release-notes"), ["0.1.0"], { encoding: "utf8" });
  assert.match(notes, /^\nThe first version/);
  assert.doesNotMatch(notes, /^## /m);
  assert.throws(() => execFileSync(resolve("deploy/release-notes"), ["9.9.9"], { stdio: "pipe" }));
});

test("a package is published with the address of the repository that publishes it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-repository-"));
  try {
    await writeFile(join(folder, "package.json"), "{}");
    const script = resolve("deploy/set-repository");
    execFileSync(script, ["https://example.com/a/b"], { cwd: folder });
    assert.deepEqual(JSON.parse(await readFile(join(folder, "package.json"), "utf8")), {
      repository: { type: "git", url: "git+https://example.com/a/b.git" },
      bugs: { url: "https://example.com/a/b/issues" },
      homepage: "https://example.com/a/b#readme",
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("nothing is published before the tests have passed", () => {
  const [, ...jobs] = readText(".github/workflows/publish.yml").split(/^ {2}(?=\w+:$)/m);
  const named = jobs.filter((job) => !job.startsWith("ci:") && !job.startsWith("release:"));
  assert.deepEqual(
    named.filter((job) => job.includes("runs-on")).map((job) => /needs: (.*)/.exec(job)?.[1]),
    ["ci", "ci", "ci"],
  );
});
