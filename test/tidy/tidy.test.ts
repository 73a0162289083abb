/**
 * Checks the house rules that no other tool checks. A failure names the file and line. A change of a
 * rule changes this file and CONTRIBUTING.md together.
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import packageJson from "../../package.json" with { type: "json" };
import { errorTable } from "../../src/base/errors.ts";
import { isBalanced } from "./blank-out.ts";
import { formatConfigurationPage } from "./configuration-page.ts";
import { isReachable, readLinks } from "./page-links.ts";
import {
  findCode,
  findText,
  getLayer,
  listFiles,
  readSource,
  readSources,
  readText,
  type SourceFile,
} from "./project-files.ts";
import { undocumentedExports } from "./undocumented-exports.ts";
import { findBannedNames, findBannedWords } from "./vocabulary.ts";

/** The layers of the source, lowest first. A file imports from its own layer and from the layers before it. */
const layers = [
  "base",
  "chain",
  "contracts",
  "market",
  "venue",
  "rows",
  "storage",
  "views",
  "query",
  "lake",
  "access",
  "feed",
  "stream",
  "api",
  "roles",
  "main",
  "cli",
];

/** The layers that may use a package, by the name of the package without a path. */
const packageHomes: Readonly<Record<string, readonly string[]>> = {
  "@bomb.sh/tab": ["cli"],
  "@modelcontextprotocol/sdk": ["cli"],
  "@noble/hashes": ["chain", "contracts", "market"],
  "@uwdata/flechette": ["api"],
  chdb: ["storage"],
  commander: ["cli"],
  "@fastify/send": ["api"],
  fastify: ["api"],
  hyparquet: ["lake"],
  "hyparquet-writer": ["api"],
  pino: ["base"],
  "pino-pretty": ["base"],
  "prom-client": ["base", "api"],
  redis: ["base"],
  typebox: [
    "base",
    "contracts",
    "market",
    "venue",
    "rows",
    "lake",
    "access",
    "stream",
    "api",
    "cli",
  ],
  ws: ["venue", "chain", "api"],
  zod: ["cli"],
};

/** The layers that may use a Node module that opens connections, files or processes. */
const nodeHomes: Readonly<Record<string, readonly string[]>> = {
  "node:child_process": ["cli"],
  "node:crypto": ["base", "venue", "storage", "views", "lake", "access", "feed", "api", "cli"],
  "node:dgram": [],
  "node:dns": ["cli"],
  "node:fs": ["base", "storage", "views", "lake", "access", "api", "roles", "cli"],
  "node:http": ["venue", "chain", "storage", "access", "api", "cli"],
  "node:http2": [],
  "node:https": ["venue", "chain", "storage", "cli"],
  "node:net": ["base", "access", "api", "cli"],
  "node:sqlite": ["storage", "views", "access", "feed"],
  "node:tls": [],
  "node:worker_threads": ["storage", "views", "feed", "api"],
};

/** Folders whose code uses no clock, input, output, log or random numbers. */
const pureFolders = ["contracts", "market", "rows"];
const pureImports = ["node:buffer", "typebox", "@noble/hashes"];
/** The most source files that may be directly in one folder. */
const levelFilesMax = 15;
const impureBaseFiles = ["clock", "config", "log", "retry", "version"];
const impureCode =
  /\bDate\b|\bMath\.random\b|\bperformance\b|\bprocess\b|\bconsole\b|\bfetch\b|\bset(?:Timeout|Interval|Immediate)\b|\basync\b|\bawait\b/;

const bannedNames = /(?:^|[-/])(?:utils?|helpers?|common|types|managers?|misc|shared|index)\b/;
const kebabPath =
  /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|bench))?\.tsx?$/;

const files = listFiles();
const sources = readSources();
/** Every TypeScript file: the service, its tests, the demo and the benchmarks. */
const scripts = files.filter((path) => /\.tsx?$/.test(path)).map(readSource);
const pages = files.filter((path) => path.endsWith(".md"));
const readme = readText("README.md");

function assertNone(violations: readonly string[]): void {
  assert.equal(violations.length, 0, `\n  ${violations.join("\n  ")}`);
}

function inFolders(folders: readonly string[]): SourceFile[] {
  return sources.filter(({ path }) => folders.includes(getLayer(path)));
}

suite("these checks", () => {
  // A rule that finds no files passes.
  test("read the whole project", () => {
    assert(sources.length > 150, `only ${sources.length} files of source were found`);
    assert(scripts.length > sources.length + 40, `only ${scripts.length} scripts were found`);
    const imports = sources.flatMap((file) => file.imports);
    assert(imports.length > 800, `only ${imports.length} imports were found`);
    assert(readLinks("README.md").length > 10, "the README has links");
    assert(readLinks("ARCHITECTURE.md").length > 20, "ARCHITECTURE.md has links");
  });

  // Rules about code would otherwise find words in comments, and miss code after a quote.
  test("distinguish code from comments and strings", () => {
    // TSX files are left out, because `blankOut` takes the text between tags for code.
    const plain = scripts.filter(({ path }) => path.endsWith(".ts"));
    assertNone(plain.filter(({ code }) => !isBalanced(code.join("\n"))).map(({ path }) => path));
  });

  // One exception becomes the pattern that the next change copies.
  test("and those of other tools are not disabled anywhere", () => {
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
  // A file without a layer could import anything.
  test("every source file belongs to a layer", () => {
    assertNone(sources.map(({ path }) => path).filter((path) => !layers.includes(getLayer(path))));
  });

  // A reader follows data downwards, and a layer can be tested without those above it.
  test("a file imports only from its own layer and the layers before it", () => {
    assertNone(
      violationsOfImports((from, target) => {
        if (!target.startsWith("src/")) return false;
        return layers.indexOf(getLayer(target)) > layers.indexOf(getLayer(from));
      }),
    );
  });

  // The page is the only picture of the order; nothing else would notice that it is old.
  test("ARCHITECTURE.md lists the layers in their order", () => {
    const named = [...readText("ARCHITECTURE.md").matchAll(/^\| `([a-z]+)` \|/gm)].map(
      ([, name]) => name,
    );
    assert.deepEqual(named, layers);
  });

  // The package contains `src` alone; an import from `test` or `bench` fails only at the user.
  test("the source imports nothing from outside `src`, except package.json, the client in commands and what a package has as files", () => {
    const allowed = ["package.json", "explorer/bundle-explorer.ts", "deploy/viewer-script.ts"];
    assertNone(
      violationsOfImports((from, target) => {
        if (from.startsWith("src/cli/") && target.startsWith("clients/typescript/src/"))
          return false;
        return !target.startsWith("src/") && !allowed.includes(target);
      }),
    );
  });

  // In a cycle, the order of loading decides whether a constant is defined.
  test("imports have no cycles", () => {
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

  // Replacing or updating a package concerns one layer.
  test("a package or a Node module with side effects is imported only by its layers", () => {
    assertNone(
      sources.flatMap(({ path, imports }) =>
        imports
          .filter(({ target, specifier }) => {
            return target === null && getHomes(specifier)?.includes(getLayer(path)) === false;
          })
          .map(({ line, specifier }) => `${path}:${line} imports ${specifier}`),
      ),
    );
  });

  // The engine is one per process and ends with the thread that loaded it.
  test("threads do not load the engine", () => {
    const loads = new Map(
      sources.map(({ path, imports }) => [path, imports.filter(({ isType }) => !isType)]),
    );
    const visit = (path: string, way: readonly string[]): string[] =>
      (loads.get(path) ?? []).flatMap(({ target, specifier }) => {
        if (specifier === "chdb") return [[...way, path].join(" -> ")];
        return target === null || way.includes(target) ? [] : visit(target, [...way, path]);
      });
    const threads = sources.filter(({ path }) => /-(?:thread|worker)\.ts$/.test(path));
    const begun = threads.filter(({ text }) => text.includes("workerData"));
    assert(begun.length > 2, `only ${begun.length} threads were found`);
    assertNone(begun.flatMap(({ path }) => visit(path, [])));
  });

  // The operator can list what the service connects to.
  test("only `venue`, `chain` and commands that call the service open connections", () => {
    const others = sources.filter(({ path }) => !/^src\/(?:venue|chain|cli)\//.test(path));
    assertNone(findCode(others, /\bfetch\(|\bnew WebSocket\b|\bnew EventSource\b/));
  });

  // A recomputation must give the same facts, whenever and wherever it runs (R9).
  test("contracts, market and rows are pure", () => {
    const pure = inFolders(pureFolders);
    assert(pure.length > 30, `only ${pure.length} pure files were found`);
    const imported = pure.flatMap(({ path, imports }) =>
      imports
        .filter(({ target, specifier }) =>
          target === null
            ? !pureImports.some((name) => specifier === name || specifier.startsWith(`${name}/`))
            : impureBaseFiles.some((name) => target === `src/base/${name}.ts`),
        )
        .map(({ line, specifier }) => `${path}:${line} imports ${specifier}`),
    );
    // This file formats a date from a number. That reads no clock.
    const code = pure.filter(({ path }) => path !== "src/rows/wire-format.ts");
    assertNone([...imported, ...findCode(code, impureCode)]);
    const format = pure.filter(({ path }) => path === "src/rows/wire-format.ts");
    assertNone(findCode(format, /\bDate\.|new Date\(\)/));
  });

  // A view that reads rows by byte offset breaks when the schema changes, and nothing in `storage` shows that.
  test("views write no SQL and read no rows of the engine", () => {
    const views = inFolders(["views"]);
    const ownSql = /^src\/storage\/(?:codec\/|sql-literal|engine\/(?!engine\.ts))/;
    assertNone(
      violationsOfImports((from, target) => getLayer(from) === "views" && ownSql.test(target)),
    );
    assertNone(findCode(views, /\bengine\.(?:query|run|insert)|\bqueryBinary\b/));
  });

  // A row that looks up its own facts cannot be formatted from facts of another moment, nor tested without a state.
  test("rows only format: they look up no book, and come before the views", () => {
    const isLookup = (target: string) => target.endsWith("/order-books.ts");
    assertNone(
      violationsOfImports((from, target) => getLayer(from) === "rows" && isLookup(target)),
    );
    assert(layers.indexOf("rows") < layers.indexOf("storage"));
  });

  // A variable that is read elsewhere is neither validated nor documented.
  test("only the configuration reads the environment", () => {
    const others = sources.filter(({ path }) => path !== "src/base/config/config.ts");
    assertNone(findCode(others, /\bprocess\.env\b/));
  });

  // Anything else that exits skips closing the store.
  test("only the command line ends the process", () => {
    const others = sources.filter(({ path }) => !/^src\/cli(?:\.ts|\/[a-z-]+\.ts)$/.test(path));
    assertNone(findCode(others, /\bprocess\.(?:exit|exitCode|abort)\b/));
  });
});

suite("files", () => {
  // A file that fits in a few screens has one subject.
  test("have at most 400 lines", () => {
    const long = sources.filter(({ lines }) => lines.length > 401);
    assertNone(long.map(({ path, lines }) => `${path} has ${lines.length - 1}`));
  });

  // A folder can be read as a list; a longer one hides a second subject.
  test("are at most 15 per folder, and only cli.ts and main.ts are directly in src", () => {
    const levels = Map.groupBy(sources, ({ path }) => path.slice(0, path.lastIndexOf("/")));
    const counts = [...levels].map(([folder, { length }]) => ({ folder, length }));
    assertNone(
      counts
        .filter(({ length }) => length > levelFilesMax)
        .map(({ folder, length }) => `${folder} has ${length}`),
    );
    const loose = levels.get("src")?.map(({ path }) => path);
    assert.deepEqual(loose, ["src/cli.ts", "src/main.ts"]);
  });

  // Editors, stack traces and reviews show the name without its folder.
  test("have names that no other file has", () => {
    const names = Map.groupBy(sources, ({ path }) => path.slice(path.lastIndexOf("/") + 1));
    assertNone(
      [...names.values()]
        .filter(({ length }) => length > 1)
        .map((same) => same.map(({ path }) => path).join(" and ")),
    );
  });

  // `utils` attracts everything, and macOS does not distinguish case.
  test("have kebab-case names that say what they contain", () => {
    const paths = scripts.map(({ path }) => path);
    assertNone(paths.filter((path) => !kebabPath.test(path)));
    assertNone(paths.filter((path) => bannedNames.test(path)));
  });

  // A name stays the same everywhere, and loading one file does not load a folder.
  test("have no default exports and no re-exports", () => {
    assertNone(findCode(scripts, /^export default\b/));
    // A package has one entry point, which re-exports everything public.
    const others = scripts.filter(({ path }) => path !== "clients/typescript/src/package-entry.ts");
    assertNone(findCode(others, /^export\s+(?:type\s+)?(?:\*|\{)/));
  });

  // Both hide the error that the compiler would report.
  test("contain no `any` and no `!` that silences the compiler", () => {
    assertNone(findCode(scripts, /(?:[:<|&,]|\bas|=>)\s*any\b(?=[\s;,)>\]|&[]|$)(?!\s*=>)/));
    assertNone(findCode(scripts, /[\w)\]]!(?!=)/));
  });

  // `t.after` runs in order, and would delete a directory before the service that writes to it is closed.
  test("clean up after tests with `cleanUp`, which runs in reverse order", () => {
    assertNone(
      findCode(
        scripts.filter(({ path }) => path !== "test/support/clean-up.ts"),
        /\bt\.after\(/,
      ),
    );
  });

  // A link from the root of the host leaves an explorer that a proxy serves below a path.
  test("have links of the explorer from its root", () => {
    const components = scripts.filter(({ path }) => path.startsWith("explorer/src/"));
    assertNone(findText(components, /\bhref=(?:"|\{["`])\//));
  });

  // Work that is left belongs into an issue.
  test("contain no notes of unfinished work", () => {
    assertNone(findText(scripts, /\bTO[D]O\b|\bFIX[M]E\b|\bX{3}\b|\bHAC[K]\b/));
  });

  // It works for one person.
  test("contain no path of a particular machine", () => {
    const texts = files.filter((path) =>
      /\.(?:ts|md|json|sol|sh)$|^\.|^(?:LICENSE|NOTICE)$/.test(path),
    );
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
  // A caller should not have to read the body for units, limits and errors.
  test("every exported function, class, type and value has one", () => {
    assertNone(sources.flatMap(undocumentedExports));
  });

  // A page that was renamed is otherwise found only by the reader who needs it.
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

suite("vocabulary", () => {
  // Users search the pages for one word of each thing.
  test("documents use US spelling and the terms of the glossary", () => {
    assertNone(findBannedWords(pages.map(readSource)));
  });

  // A contributor expects `getX`, `toX` and `parseX` before reading anything of ours.
  test("names use the terms of the field", () => {
    assertNone(findBannedNames(scripts.filter(({ path }) => path !== "test/tidy/vocabulary.ts")));
  });

  // Views apply decoded logs and list groups of markets. The venue calls the second events too.
  test("an `event` of a view is a decoded log; one of the venue is a `venueEvent`", () => {
    const lists = sources.filter(({ path }) => path.startsWith("src/views/venue-events/"));
    assert(lists.length > 0);
    assertNone(findCode(lists, /\bevents?\b/));
  });
});

suite("packages", () => {
  // npm 11.6 and newer refuse `npm ci` without these entries, and older ones leave the engine out on
  // other platforms. npm writes none for a package that its registry did not have when the lock was written.
  test("every optional dependency of a locked package has an entry in the lock file", () => {
    type Locked = { readonly optionalDependencies?: Readonly<Record<string, string>> };
    const { packages } = JSON.parse(readText("package-lock.json")) as {
      packages: Readonly<Record<string, Locked>>;
    };
    const locked = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
    const optional = Object.values(packages).flatMap((entry) =>
      Object.keys(entry.optionalDependencies ?? {}),
    );
    assert(optional.length > 100, `only ${optional.length} optional dependencies were found`);
    assertNone([...new Set(optional)].filter((name) => !locked.has(name)));
  });

  // An address of a private registry makes `npm ci` fail for everyone else.
  test("the lock file names no registry", () => {
    assert.doesNotMatch(readText("package-lock.json"), /"resolved": "http/);
  });
});

suite("documentation", () => {
  // Someone who tries the project reads one screen.
  test("the README begins with the two commands", () => {
    const top = readme.split("\n").slice(0, 40).join("\n");
    for (const command of ["npm install && npm run demo", "npm install && npm test"]) {
      assert(top.includes(command), `${command} is not among the first 40 lines`);
    }
  });

  // The page is written by hand.
  test("the HTTP API page lists every endpoint, and no other", () => {
    const routes = sources.filter(({ path }) => path.startsWith("src/api/"));
    const served = routes.flatMap(({ text }) =>
      [...text.matchAll(/\bpath(?:: | = )"(\/v1\/[^"]+)"/g)].map(([, path]) => path),
    );
    const listed = [
      ...readText("docs/http-api.md").matchAll(/`(?:GET|POST|DELETE) (\/v1\/[^`?]+)`/g),
    ].map(([, path]) => path);
    assert(served.length > 15, `only ${served.length} paths were found`);
    assert.deepEqual(new Set(listed), new Set(served));
  });

  // Responses link to it.
  test("the errors page has a section for every error code, and no other", () => {
    const sections = readText("docs/errors.md").matchAll(/^## (\w+)\n\n(\d+) · (not )?retry/gm);
    assert.deepEqual(
      [...sections].map(([, code, status, not]) => ({
        code,
        status,
        isRetryable: not === undefined,
      })),
      Object.entries(errorTable).map(([code, { status, retryable }]) => ({
        code,
        status: String(status),
        isRetryable: retryable,
      })),
    );
  });

  // A setting that was added without the page is not found by operators.
  test("the configuration page equals the output of `npm run docs`", () => {
    assert.equal(readText("docs/configuration.md"), formatConfigurationPage());
  });

  // Files move.
  test("every link leads to an existing file and heading", () => {
    assertNone(
      pages.flatMap((page) =>
        readLinks(page)
          .filter((link) => !isReachable(link, files))
          .map(({ line, address }) => `${page}:${line} ${address}`),
      ),
    );
  });

  // A page that nothing links to is not read, and becomes wrong.
  test("every page is linked from another page", () => {
    const linked = new Set(
      pages.flatMap((page) =>
        readLinks(page)
          .filter(({ path }) => path !== page)
          .map(({ path }) => path),
      ),
    );
    const entries = /^(?:README\.md$|\.github\/)/;
    assertNone(pages.filter((page) => !entries.test(page) && !linked.has(page)));
  });

  // The release takes its notes from the section of its version.
  test("the newest version of the changelog is that of the package", () => {
    const [, newest] = /^## \[?(\d+\.\d+\.\d+)\]?/m.exec(readText("CHANGELOG.md")) ?? [];
    assert.equal(newest, packageJson.version);
  });
});

/** The layers that may use a package or a Node module, or `null` if all may. */
function getHomes(specifier: string): readonly string[] | null {
  const [first = "", second = ""] = specifier.split("/");
  if (first.startsWith("node:")) return nodeHomes[first] ?? null;
  return packageHomes[first.startsWith("@") ? `${first}/${second}` : first] ?? [];
}

function violationsOfImports(isWrong: (from: string, target: string) => boolean): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => target !== null && isWrong(path, target))
      .map(({ line, specifier }) => `${path}:${line} imports ${specifier}`),
  );
}
