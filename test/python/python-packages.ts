import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { python } from "./ruff.ts";

/** The modules that tests of the Python client need. `.ci/install-tools` installs them. */
const modules = [
  "flatbuffers",
  "hatchling",
  "httpx",
  "mypy",
  "pandas",
  "pytest",
  "venv",
  "websockets",
];

/** Returns why the tests of the Python client are skipped; `false` if they are not. In CI none is. */
export function missingPackages(): string | false {
  const { status, stderr } = spawnSync(python, ["-c", `import ${modules.join(", ")}`], {
    encoding: "utf8",
  });
  if (status === 0) return false;
  const reason = `the Python client is NOT TESTED: ${stderr?.trim().split("\n").at(-1) ?? `there is no ${python}`}; run .ci/install-tools`;
  assert.equal(process.env["CI"], undefined, reason);
  console.warn(reason);
  return reason;
}
