/**
 * The house rules that no other tool checks, held against the files themselves. A failure names the
 * place; a change of a rule is a change of this file and of ARCHITECTURE.md together.
 */
import assert from "node:assert/strict";
import { dirname, posix } from "node:path";
import { suite, test } from "node:test";
import packageJson from "../../package.json" with { type: "json" };
import { errorTable } from "../../src/base/errors.ts";
import { formatConfigurationPage } from "./configuration-page.ts";
import {
  findCode,
  findText,
  folderOf,
  listFiles,
  readSource,
  readSources,
  readText,
  type SourceFile,
} from "./project-files.ts";

/** The way of the data, and the direction of imports: each folder may import those before it. */
const folderOrder = [
  "base",
  "catalog",
  "chain",
  "decode",
  "market",
  "rows",
  "store",
  "stream",
  "web",
];

/** Which folders may use a package, by its name without the path behind it. */
const packageHomes: Readonly<Record<string, readonly string[]>> = {
  "@noble/hashes": ["chain", "market"],
  chdb: ["store"],
  fastify: ["web"],
  pino: ["base"],
  typebox: ["decode", "rows", "web"],
  ws: ["chain", "web"],
};

/** Parts of Node that only some folders may use: all that opens connections, files or processes. */
const nodeHomes: Readonly<Record<string, readonly string[]>> = {
  "node:child_process": [],
  "node:crypto": ["store", "web"],
  "node:dgram": [],
  "node:dns": [],
  "node:fs": ["base", "store"],
  "node:http": ["chain", "web"],
  "node:http2": [],
  "node:https": ["chain"],
  "node:net": ["base", "web"],
  "node:sqlite": ["store"],
  "node:tls": [],
};

/** Folders without clock, input, output, log or chance. */
const pureFolders = ["decode", "market", "rows"];
const pureImports = ["node:buffer", "typebox", "@noble/hashes"];
const impureBaseFiles = ["clock", "config", "log", "retry", "version"];
const impureCode =
  /\bDate\b|\bMath\.random\b|\bperformance\b|\bprocess\b|\bconsole\b|\bfetch\b|\bset(?:Timeout|Interval|Immediate)\b|\basync\b|\bawait\b/;

const bannedNames = /(?:^|[-/])(?:utils?|helpers?|common|types?|managers?|misc|shared|index)\b/;
const kebabPath = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test)?\.ts$/;

const files = listFiles();
const sources = readSources();
/** Everything in TypeScript: the service, its tests, the demo and the benches. */
const scripts = files.filter((path) => path.endsWith(".ts")).map(readSource);
const pages = files.filter((path) => path.endsWith(".md"));
const readme = readText("README.md");

function assertNone(violations: readonly string[]): void {
  assert.equal(violations.length, 0, `\n  ${violations.join("\n  ")}`);
}

function inFolders(folders: readonly string[]): SourceFile[] {
  return sources.filter(({ path }) => folders.includes(folderOf(path) ?? ""));
}

suite("these checks", () => {
  test("look at the whole project", () => {
    assert(sources.length > 150, `only ${sources.length} files of source were found`);
    assert(scripts.length > sources.length + 40, `only ${scripts.length} scripts were found`);
    const imports = sources.flatMap((file) => file.imports);
    assert(imports.length > 800, `only ${imports.length} imports were found`);
    assert(linksOf("README.md").length > 10, "the README has links");
    assert(linksOf("ARCHITECTURE.md").length > 20, "ARCHITECTURE.md has links");
  });

  test("tell code from comments and strings", () => {
    assertNone(scripts.filter(({ code }) => !isBalanced(code.join("\n"))).map(({ path }) => path));
  });

  test("are not switched off anywhere, nor are those of other tools", () => {
    assertNone(findText(scripts, /\b(?:oxlint|eslint|biome|ts|knip)-(?:disable|ignore|expect)/));
    const { rules } = JSON.parse(readText(".oxlintrc.json")) as { rules: Record<string, unknown> };
    const limits = ["max-lines", "max-lines-per-function", "max-params", "max-depth"];
    const bans = ["node/no-process-env", "import/no-cycle", "typescript/no-explicit-any"];
    for (const name of [...limits, ...bans]) {
      assert.equal([rules[name]].flat()[0], "error", `.oxlintrc.json: ${name}`);
    }
  });
});

suite("imports", () => {
  test("every folder of the source has its place in the order", () => {
    const folders = new Set(sources.map(({ path }) => folderOf(path)));
    folders.delete(null);
    assert.deepEqual(
      [...folders].filter((folder) => !folderOrder.includes(folder ?? "")),
      [],
    );
    assert.deepEqual(folderOrder, folderOrder.toSorted());
  });

  test("a folder imports only itself and those before it", () => {
    assertNone(violationsOfImports(isForward));

    function isForward(from: string, target: string): boolean {
      const [importing, imported] = [folderOf(from), folderOf(target)];
      if (importing === null || !target.startsWith("src/")) return false;
      if (imported === null) return true;
      return folderOrder.indexOf(imported) > folderOrder.indexOf(importing);
    }
  });

  test("the source imports nothing from outside but package.json", () => {
    assertNone(
      violationsOfImports((_, target) => !target.startsWith("src/") && target !== "package.json"),
    );
  });

  test("no file imports itself in a circle", () => {
    const targets = new Map(
      sources.map(({ path, imports }) => [path, imports.map(({ target }) => target ?? "")]),
    );
    const done = new Set<string>();
    const visit = (path: string, way: readonly string[]): string[] => {
      if (way.includes(path)) return [[...way.slice(way.indexOf(path)), path].join(" -> ")];
      if (done.has(path)) return [];
      const found = (targets.get(path) ?? []).flatMap((target) => visit(target, [...way, path]));
      done.add(path);
      return found;
    };
    assertNone([...targets.keys()].flatMap((path) => visit(path, [])));
  });

  test("a package, or a part of Node with side effects, stays in its folders", () => {
    const homesOf = (specifier: string): readonly string[] | null => {
      const [first = "", second = ""] = specifier.split("/");
      if (first.startsWith("node:")) return nodeHomes[first] ?? null;
      return packageHomes[first.startsWith("@") ? `${first}/${second}` : first] ?? [];
    };
    assertNone(
      sources.flatMap(({ path, imports }) =>
        imports
          .filter(({ target, specifier }) => {
            const folder = folderOf(path);
            if (target !== null || folder === null) return false;
            return homesOf(specifier)?.includes(folder) === false;
          })
          .map(({ line, specifier }) => `${path}:${line} imports ${specifier}`),
      ),
    );
  });

  test("only the chain source, and the command that calls the service, open connections", () => {
    const others = sources.filter(
      ({ path }) => folderOf(path) !== "chain" && path !== "src/print-trades.ts",
    );
    assertNone(findCode(others, /\bfetch\(|\bnew WebSocket\b|\bnew EventSource\b/));
  });

  test("decode, market and rows are pure", () => {
    const pure = inFolders(pureFolders);
    assert(pure.length > 40, `only ${pure.length} pure files were found`);
    const imported = pure.flatMap(({ path, imports }) =>
      imports
        .filter(({ target, specifier }) =>
          target === null
            ? !pureImports.some((name) => specifier === name || specifier.startsWith(`${name}/`))
            : impureBaseFiles.some((name) => target === `src/base/${name}.ts`),
        )
        .map(({ line, specifier }) => `${path}:${line} imports ${specifier}`),
    );
    // A date made from a number is a format, not a clock.
    const code = pure.filter(({ path }) => path !== "src/rows/wire-format.ts");
    assertNone([...imported, ...findCode(code, impureCode)]);
    const format = pure.filter(({ path }) => path === "src/rows/wire-format.ts");
    assertNone(findCode(format, /\bDate\.|new Date\(\)/));
  });

  test("only the configuration reads the environment", () => {
    const others = sources.filter(({ path }) => path !== "src/base/config.ts");
    assertNone(findCode(others, /\bprocess\.env\b/));
  });

  test("only the command line ends the process", () => {
    const others = sources.filter(({ path }) => path !== "src/cli.ts");
    assertNone(findCode(others, /\bprocess\.(?:exit|exitCode|abort|kill)\b/));
  });
});

suite("files", () => {
  test("have at most 400 lines", () => {
    const long = sources.filter(({ lines }) => lines.length > 401);
    assertNone(long.map(({ path, lines }) => `${path} has ${lines.length - 1}`));
  });

  test("have kebab-case names that say what they hold", () => {
    const paths = scripts.map(({ path }) => path);
    assertNone(paths.filter((path) => !kebabPath.test(path)));
    assertNone(paths.filter((path) => bannedNames.test(path)));
  });

  test("export by name, and only what is their own", () => {
    assertNone(findCode(scripts, /^export default\b/));
    assertNone(findCode(scripts, /^export\s+(?:type\s+)?(?:\*|\{)/));
  });

  test("hold no `any` and no `!` that silences the compiler", () => {
    assertNone(findCode(scripts, /(?:[:<|&,(]|\bas|=>)\s*any\b(?=[\s;,)>\]|&[]|$)(?!\s*=>)/));
    assertNone(findCode(scripts, /[\w)\]]!(?!=)/));
  });

  test("hold no work left for later", () => {
    assertNone(findText(scripts, new RegExp(["TO" + "DO", "FIX" + "ME", "X{3}"].join("|"))));
  });

  test("name no place of a machine", () => {
    const texts = files.filter((path) => /\.(?:ts|md|json|sol|sh)$|^\.|^LICENSE$/.test(path));
    const lines = texts
      .filter((path) => path !== "package-lock.json")
      .map((path) => ({ path, lines: readText(path).split("\n") }));
    assertNone(
      lines.flatMap((file) =>
        file.lines.flatMap((line, index) =>
          /(?:^|[\s"'`(=])\/(?:home|root|Users|work|opt|mnt)\/\w/.test(line)
            ? [`${file.path}:${index + 1} ${line.trim().slice(0, 100)}`]
            : [],
        ),
      ),
    );
  });
});

suite("comments", () => {
  test("every exported function and class says what it does, every type and value what it is", () => {
    assertNone(sources.flatMap(undocumentedExports));
  });

  test("a page named in a comment exists", () => {
    assertNone(
      scripts.flatMap(({ path, lines }) =>
        lines.flatMap((line, index) =>
          [...line.matchAll(/`([\w./-]+\.md)`/g)]
            .filter(([, page = ""]) => !pages.includes(page))
            .map(([, page]) => `${path}:${index + 1} names ${page}`),
        ),
      ),
    );
  });
});

suite("documentation", () => {
  test("the README begins with the two commands", () => {
    const top = readme.split("\n").slice(0, 40).join("\n");
    for (const command of ["npm install && npm run demo", "npm install && npm test"]) {
      assert(top.includes(command), `${command} is not among the first 40 lines`);
    }
  });

  test("the README lists every endpoint, and no other", () => {
    const routes = sources.filter(({ path }) => path.startsWith("src/web/routes/"));
    const served = routes.flatMap(({ text }) =>
      [...text.matchAll(/\bpath(?:: | = )"(\/v1\/[^"]+)"/g)].map(([, path]) => path),
    );
    const listed = [...readme.matchAll(/`(?:GET|POST|DELETE) (\/v1\/[^`?]+)`/g)].map(
      ([, path]) => path,
    );
    assert(served.length > 15, `only ${served.length} paths were found`);
    assert.deepEqual([...new Set(listed)].toSorted(), [...new Set(served)].toSorted());
  });

  test("every code of an error has its section, with its status, and no other", () => {
    const told = [...readText("docs/errors.md").matchAll(/^## `?(\w+)`? \((\d+)\)$/gm)];
    assert.deepEqual(
      told.map(([, code, status]) => [code, Number(status)]),
      Object.entries(errorTable).map(([code, { status }]) => [code, status]),
    );
  });

  test("the page of settings is the one that `npm run docs` writes", () => {
    assert.equal(readText("docs/configuration.md"), formatConfigurationPage());
  });

  test("links lead somewhere", () => {
    assertNone(
      pages.flatMap((page) =>
        linksOf(page)
          .filter(({ target }) => !isReachable(target))
          .map(({ line, text }) => `${page}:${line} ${text}`),
      ),
    );
  });

  test("every page is linked from another one", () => {
    const linked = new Set(
      pages.flatMap((page) =>
        linksOf(page)
          .filter(({ target }) => target.path !== page)
          .map(({ target }) => target.path),
      ),
    );
    assertNone(pages.filter((page) => page !== "README.md" && !linked.has(page)));
  });

  test("the newest version of the changelog is that of the package", () => {
    const [, newest] = /^## \[?(\d+\.\d+\.\d+)\]?/m.exec(readText("CHANGELOG.md")) ?? [];
    assert.equal(newest, packageJson.version);
  });
});

function violationsOfImports(isWrong: (from: string, target: string) => boolean): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => target !== null && isWrong(path, target))
      .map(({ line, specifier }) => `${path}:${line} imports ${specifier}`),
  );
}

/** Every bracket is closed by its like: what a wrong cut of a string would break. */
function isBalanced(code: string): boolean {
  const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
  const open: string[] = [];
  for (const [one] of code.matchAll(/[()[\]{}]/g)) {
    const closer = closers[one];
    if (closer !== undefined) open.push(closer);
    else if (open.pop() !== one) return false;
  }
  return open.length === 0;
}

/**
 * A comment stands directly above, or above the export directly above. The comment at the top of a
 * file speaks for the export the file is named after, and for its types and values.
 */
function undocumentedExports({ path, lines, code }: SourceFile): string[] {
  const hasHead = lines[0]?.startsWith("/**") === true && !lines[1]?.startsWith("export");
  const own = posix.basename(path, ".ts").replaceAll("-", "").toLowerCase();
  let documentedTo = -1;
  return code.flatMap((line, index) => {
    const match = /^export (?:async )?(\w+)\*? (\w+)/.exec(line);
    if (match === null) return [];
    const [, kind = "", name = ""] = match;
    const isCovered =
      hasHead && (kind === "type" || kind === "const" || name.toLowerCase() === own);
    const isBelowComment = /\*\/\s*$/.test(lines[index - 1] ?? "");
    if (!isCovered && !isBelowComment && documentedTo !== index - 1)
      return [`${path}:${index + 1} ${name}`];
    documentedTo = endOfStatement(code, index);
    return [];
  });
}

/** The last line of the statement that begins on a line at the left edge. */
function endOfStatement(code: readonly string[], start: number): number {
  let end = start;
  while (end < code.length && !isBalanced(code.slice(start, end + 1).join("\n"))) end += 1;
  while (end + 1 < code.length && /^\s+\S/.test(code[end + 1] ?? "")) end += 1;
  return end;
}

type Link = {
  readonly line: number;
  readonly text: string;
  readonly target: { readonly path: string; readonly heading: string | null };
};

/** The links of a page to files of the project. */
function linksOf(page: string): Link[] {
  return readText(page)
    .split("\n")
    .flatMap((text, index) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, address = ""]) => {
        if (/^[a-z]+:/.test(address)) return [];
        const [path = "", heading = null] = address.split("#");
        const full = path === "" ? page : posix.join(dirname(page), path);
        return [{ line: index + 1, text: address, target: { path: full, heading } }];
      }),
    );
}

function isReachable({ path, heading }: Link["target"]): boolean {
  const isFolder = files.some((file) => file.startsWith(`${path.replace(/\/$/, "")}/`));
  if (!files.includes(path)) return isFolder && heading === null;
  return heading === null || headingsOf(path).includes(heading);
}

/** The anchors of a page, as code hosts make them of its headings. */
function headingsOf(page: string): string[] {
  return [...readText(page).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
