/** The Python client: its code, its tests against a real service, and its package. They need packages of Debian. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { suite, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type Seq, toBlockNumber, toLogIndex, toSeq } from "../../src/base/ids.ts";
import type { Fill } from "../../src/market/fill.ts";
import { cleanUp } from "../support/clean-up.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { DataServer } from "../support/open-data-server.ts";
import { repeatTrades, toHash } from "../support/repeat-trades.ts";
import { runProgram } from "../support/run-command.ts";
import { formatPythonClient } from "../tidy/python-client.ts";
import { missingPackages } from "./python-packages.ts";
import { checkPython, clientFolder, python } from "./ruff.ts";
import { runPython } from "./run-python.ts";

/** The market of the recording with many trades. */
const question = "rain";

suite("the Python client", { skip: missingPackages() }, () => {
  test("its types and methods equal those generated from the schemas", async () => {
    for (const [name, made] of Object.entries(await formatPythonClient())) {
      const written = await readFile(join(clientFolder, "src/oddwire", name), "utf8");
      assert.ok(made === written, `${name} differs: run npm run docs`);
    }
  });

  test("its methods are those of the TypeScript client", async () => {
    const source = await readFile("clients/typescript/src/client.ts", "utf8");
    const methods = [...source.matchAll(/^ {2}(?:async )?\*?(\w+)(?:<.*>)?\(/gm)]
      .map(([, name = ""]) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
      .filter((name) => name !== "constructor");
    const program =
      "import oddwire; print(*(n for n in vars(oddwire.AsyncClient) if n[0] != '_' and n != 'close'))";
    const { stdout } = await runPython("-c", program);
    assert.deepEqual(stdout.trim().split(" ").toSorted(), methods.toSorted());
  });

  test("ruff finds nothing", () => {
    assert.deepEqual(checkPython({ isWriting: false }), []);
  });

  test("mypy finds nothing in strict mode", async () => {
    const cache = resolve("node_modules/.cache/mypy");
    const { code, stdout } = await runPython("-m", "mypy", "--cache-dir", cache);
    assert.equal(code, 0, stdout);
  });

  test("its tests pass against a real service", async (t) => {
    const server = await DataServer.open();
    cleanUp(t, async () => server.close());
    const { data } = await server.getPage(`/v1/markets?search=${question}`);
    assert(data[0] !== undefined);
    const [token] = data[0]["tokens"] as [{ token_id: string }];
    const { url, keys } = server.edge;
    const { code, stdout, stderr } = await runPython("-m", "pytest", {
      ODDWIRE_URL: url,
      ODDWIRE_API_KEY: keys.read,
      ODDWIRE_ADMIN_KEY: keys.admin,
      TOKEN_ID: token.token_id,
    });
    t.diagnostic(stdout.trim().split("\n").at(-1) ?? "");
    assert.equal(code, 0, `${stdout}${stderr}`);
    assert.doesNotMatch(stdout, /skipped/);
  });

  test("its stream has every trade once, over a bad connection, restarts and reorgs", async (t) => {
    const facts = repeatTrades({ blocks: 510, trades: 100 });
    const server = await DataServer.open({ facts, finalBlocks: 450, unfinalizedBlocks: 20 });
    cleanUp(t, async () => server.close());
    const proxy = await CuttingProxy.open(t, server.edge.url);
    const folder = await newFolder(t);
    const file = join(folder, "position");
    const following = runPython("tests/follow_trades.py", {
      ODDWIRE_URL: proxy.url,
      ODDWIRE_API_KEY: server.edge.keys.read,
      LAST_ID: toId(facts.at(-1)?.fills.at(-1)),
      POSITION_FILE: file,
    });
    const state = { isOver: false };
    void following.finally(() => {
      state.isOver = true;
    });
    const blocksPerCut = 40;
    let cutAt = toSeq(blocksPerCut, 0);
    /** Waits until a position is read, while the connection is cut again and again. */
    const whenRead = async (seq: Seq) => {
      while (!state.isOver) {
        const position = Number(await readFile(file, "utf8").catch(() => "-1"));
        if (position >= seq) return;
        if (position >= cutAt) {
          cutAt = toSeq(toBlockNumber(position as Seq) + blocksPerCut, 0);
          proxy.cutAnswers(1);
        }
        await setTimeout(10);
      }
    };
    await whenRead(toSeq(server.newestBlock, 0));
    for (const own of facts.slice(server.newestBlock + 1)) {
      const { number } = own;
      if (number % 3 === 0) {
        // First another block, which is read and then reverted.
        const fills = own.fills.map((fill, index) => ({
          ...fill,
          txHash: toHash(`other ${number} ${index}`),
        }));
        await server.hold({ ...own, hash: toHash(`other ${number}`), fills });
        await whenRead(toSeq(number, 0));
        await server.fork(number - 1, [own]);
      } else await server.hold(own);
      if (number % 5 === 0) proxy.cutAnswers(1);
    }
    const { code, stdout, stderr } = await following;
    assert.equal(code, 0, stderr);
    const found = JSON.parse(stdout) as Readonly<
      Record<"repeated" | "reorgs" | "restarts", number>
    > & {
      readonly ids: readonly string[];
    };
    const expected = facts.flatMap(({ fills }) => fills.map(toId));
    assert.equal(expected.length, 51_000);
    assert.deepEqual([found.ids, found.repeated], [expected, 0]);
    const faults = `${proxy.cuts} cuts, ${found.reorgs} reorgs, ${found.restarts} restarts`;
    assert(proxy.cuts > 3 && found.reorgs > 5 && found.restarts > 5, faults);
    t.diagnostic(faults);
  });

  test("its package installs into an empty environment", async (t) => {
    const folder = await newFolder(t);
    const wheels = join(folder, "wheels");
    const build = ["-m", "hatchling", "build", "-t", "wheel", "-d", wheels];
    assert.equal((await runPython(...build)).code, 0);
    const environment = join(folder, "environment");
    execFileSync(python, ["-m", "venv", environment]);
    const inside = join(environment, "bin/python");
    // Without PyPI the packages that it needs cannot be installed: they are those of Debian.
    const install = ["-m", "pip", "install", "--no-index", "--no-deps", "--find-links", wheels];
    execFileSync(inside, [...install, "oddwire"], { stdio: "ignore" });
    const program =
      "import importlib.metadata as m, oddwire; print(oddwire.__file__, m.version('oddwire'), *m.requires('oddwire'), sep='\\n')";
    const { code, stdout, stderr } = await runProgram(inside, ["-c", program], {
      PYTHONPATH: "/usr/lib/python3/dist-packages",
    });
    assert.equal(code, 0, stderr);
    const [path = "", version, ...needed] = stdout.trim().split("\n");
    assert.ok(path.startsWith(environment), path);
    assert.equal(version, "0.1.0");
    assert.deepEqual(needed.slice(0, 2), ["httpx>=0.23", "websockets>=10.4"]);
    await readFile(join(path, "../py.typed"));
  });
});

function toId(fill: Fill | undefined): string {
  assert(fill !== undefined);
  return `${fill.txHash}-${toLogIndex(fill.seq)}`;
}

async function newFolder(t: Parameters<typeof cleanUp>[0]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-python-"));
  cleanUp(t, async () => rm(folder, { recursive: true }));
  return folder;
}
