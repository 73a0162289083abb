/** Runs the examples of the pages for users, and compares their output with the pages. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { cli } from "../support/cli.ts";
import { DataServer } from "../support/open-data-server.ts";
import { type Finished, runProgram } from "../support/run-command.ts";
import { listFiles } from "../tidy/project-files.ts";
import { type Example, readExamples } from "./read-examples.ts";

/** The search of the guide. It finds a market of the recording with many trades. */
const question = "rain";
const client = new URL("../../clients/typescript/src/package-entry.ts", import.meta.url).href;
/** Debian's Python, which finds Debian's packages. */
const python = "/usr/bin/python3";
const interpreters = {
  sh: { program: ["bash", "-euo", "pipefail"], ending: "sh" },
  ts: { program: [process.execPath], ending: "ts" },
  python: { program: [python], ending: "py" },
};
/** Python packages that the client uses. If one is missing, the examples are only compiled. */
const packages = ["flatbuffers", "httpx", "pandas", "websockets"];
/** Tools that examples need besides Node, each with a command that succeeds if the tool is installed. */
const probes: readonly (readonly [tool: string, ...probe: string[]])[] = [
  ["curl", "curl", "--version"],
  ["python3", python, "--version"],
  ...packages.map((name) => [name, python, "-c", `import ${name}`] as const),
];
const pages = [
  "README.md",
  "clients/typescript/README.md",
  ...listFiles("docs").filter((path) => path.startsWith("docs/guide/")),
];
const examples = pages.flatMap(readExamples).filter(asksTheService);
/** Blocks that begin with a file name. Other examples import these files. */
const files = examples.filter(({ code }) => getFileName(code) !== null);

suite("examples for users", { concurrency: 2 }, () => {
  let server: DataServer;
  let folder: string;
  let settings: Readonly<Record<string, string>>;
  const tools = new Set<string>();

  before(async () => {
    server = await DataServer.open();
    folder = await mkdtemp(join(tmpdir(), "oddwire-guide-"));
    const { url, keys } = server.edge;
    const { data } = await server.getPage(`/v1/markets?search=${question}`);
    assert(data[0] !== undefined);
    const [token] = data[0]["tokens"] as [{ token_id: string }];
    settings = {
      PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
      // The .curlrc there makes curl fail for HTTP errors.
      CURL_HOME: join(folder, "bin"),
      ODDWIRE_URL: url,
      ODDWIRE_API_KEY: keys.read,
      ODDWIRE_ADMIN_KEY: keys.admin,
      TOKEN_ID: token.token_id,
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONPATH: join(process.cwd(), "clients/python/src"),
    };
    await mkdir(join(folder, "bin"));
    await writeFile(join(folder, "bin", ".curlrc"), "fail\nshow-error\n");
    const command = `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`;
    await writeFile(join(folder, "bin", "oddwire"), command, { mode: 0o755 });
    for (const { code } of files) await write(getFileName(code) ?? "", code);
    for (const [tool, ...probe] of probes) {
      const { code } = await runProgram("bash", ["-c", '"$@"', "bash", ...probe]);
      if (code === 0) tools.add(tool);
    }
  });
  after(async () => {
    await rm(folder, { recursive: true });
    await server.close();
  });

  for (const example of examples.filter((one) => !files.includes(one))) {
    const { page, line, language, code, prints, answers } = example;
    test(`${page}:${line} ${language}`, async (t) => {
      const needed = language === "python" ? "python3" : language === "sh" ? "curl" : null;
      if (needed !== null && !tools.has(needed)) {
        assert(process.env["CI"] === undefined, `CI has ${needed}`);
        return t.skip(`there is no ${needed}`);
      }
      const missing = packages.find((name) => language === "python" && !tools.has(name));
      if (missing !== undefined) {
        assert(process.env["CI"] === undefined, `CI has ${missing}`);
        const script = `compile(${JSON.stringify(code)}, "guide", "exec")`;
        assert.equal((await runProgram(python, ["-c", script])).code, 0);
        return t.diagnostic(`only compiled, as the package ${missing} is not installed`);
      }
      const { code: exit, stdout, stderr } = await run(example);
      assert.equal(exit, 0, `${stdout}${stderr}`);
      if (prints !== null) assert.equal(stdout, prints);
      if (answers !== null) assertPart(JSON.parse(stdout), JSON.parse(answers), "answer");
    });
  }

  /** Runs an example in the folder, so that its files are removed afterwards. */
  async function run({ page, line, language, code }: Example): Promise<Finished> {
    const { program, ending } = interpreters[language];
    const path = await write(`${page.replaceAll(/\W/g, "-")}-${line}.${ending}`, code);
    const words = ["-c", 'cd "$1" && shift && exec "$@"', "bash", folder, ...program, path];
    return runProgram("bash", words, settings);
  }

  async function write(name: string, code: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, here(code).replace('"oddwire-client"', `"${client}"`));
    return path;
  }

  /** Replaces the default address with that of the test service. */
  function here(code: string): string {
    return code.replaceAll("http://127.0.0.1:8080", server.edge.url);
  }
});

test("the pages have at least 8 examples in each language", () => {
  for (const language of ["sh", "ts", "python"]) {
    const count = examples.filter((one) => one.language === language).length;
    assert(count >= 8, `${count} in ${language}`);
  }
});

test("every recipe is in curl, TypeScript and Python; the stream, which curl cannot follow, in both others", () => {
  const recipes = Map.groupBy(
    examples.filter(({ page, section }) => isOfRecipes(page) && section !== ""),
    ({ page, section }) => `${page}: ${section}`,
  );
  assert(recipes.size > 15, `${recipes.size} recipes`);
  for (const [name, own] of recipes) {
    const found = new Set(own.map(({ language }) => language));
    const isStream = own.some(({ code }) => code.includes(".stream("));
    const isFrame = own.every(({ code }) => code.includes(".to_pandas("));
    const isCommand = own.every(({ code }) => code.startsWith("oddwire "));
    if (isFrame || isCommand) continue;
    for (const language of isStream ? ["ts", "python"] : ["sh", "ts", "python"])
      assert(found.has(language as never), `${name} has none in ${language}`);
  }
});

/** Whether a page of the guide consists of recipes: the others are tutorials and the first page. */
function isOfRecipes(page: string): boolean {
  return page.startsWith("docs/guide/") && !/README|bot|notebook/.test(page);
}

function asksTheService({ page, language, code }: Example): boolean {
  if (page.startsWith("docs/guide/")) return !/\bexport \w+=/.test(code);
  if (language === "sh") return code.includes("curl");
  return language === "python" || code.includes('"oddwire-client"');
}

function getFileName(code: string): string | null {
  return /^(?:#|\/\/) (\w+\.(?:ts|py))\n/.exec(code)?.[1] ?? null;
}

/** Asserts that every shown field and element has the shown value. There can be more fields. */
function assertPart(actual: unknown, expected: unknown, path: string): void {
  if (expected === null || typeof expected !== "object") {
    assert.equal(actual, expected, path);
    return;
  }
  assert(actual !== null && typeof actual === "object", path);
  for (const [name, value] of Object.entries(expected)) {
    const field = (actual as Record<string, unknown>)[name];
    assertPart(field, value, `${path}.${name}`);
  }
}
