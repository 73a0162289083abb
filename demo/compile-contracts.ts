/**
 * Compiles demo/contracts to demo/artifacts. Run it after a change of a contract:
 * `node demo/compile-contracts.ts`. A test fails as long as the two differ.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import solc from "solc";
import type { Abi } from "viem";
import type { Artifact } from "./artifacts.ts";

const sourcesDir = new URL("./contracts/", import.meta.url);
const artifactsDir = new URL("./artifacts/", import.meta.url);

type Output = {
  readonly errors?: readonly { readonly formattedMessage: string }[];
  readonly contracts: Readonly<
    Record<string, Readonly<Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>>
  >;
};

/** Returns the contents of the artifact file of each deployable contract, by name. Throws on any compiler warning. */
export function compileContracts(): ReadonlyMap<string, string> {
  const fileNames = readdirSync(sourcesDir).filter((name) => name.endsWith(".sol"));
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(
      fileNames.map((name) => [name, { content: readFileSync(new URL(name, sourcesDir), "utf8") }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      // Without the metadata trailer the bytecode depends only on code, not on comments.
      metadata: { bytecodeHash: "none", appendCBOR: false },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  if (output.errors !== undefined) {
    throw new Error(output.errors.map((error) => error.formattedMessage).join("\n"));
  }
  const artifacts = new Map<string, string>();
  for (const contracts of Object.values(output.contracts)) {
    for (const [name, { abi, evm }] of Object.entries(contracts)) {
      const artifact: Artifact = { abi, bytecode: `0x${evm.bytecode.object}` };
      if (artifact.bytecode !== "0x") artifacts.set(name, `${JSON.stringify(artifact)}\n`);
    }
  }
  return artifacts;
}

if (import.meta.main) {
  mkdirSync(artifactsDir, { recursive: true });
  for (const [name, text] of compileContracts()) {
    writeFileSync(new URL(`${name}.json`, artifactsDir), text);
    console.log(`${name}: ${text.length} characters`);
  }
}
