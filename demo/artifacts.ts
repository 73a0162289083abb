import { readFileSync } from "node:fs";
import { type Abi, encodeDeployData, encodeFunctionData, type Hex } from "viem";

export type ContractName =
  | "Collateral"
  | "ConditionalTokens"
  | "ExchangeV1"
  | "ExchangeV2"
  | "FeeModule"
  | "NegRiskAdapter"
  | "NegRiskOperator"
  | "UmaAdapter";

/** A compiled contract, as its file has it. */
export type Artifact = { readonly abi: Abi; readonly bytecode: Hex };

const artifacts = new Map<ContractName, Artifact>();

/** Reads a compiled contract of demo/contracts. */
export function getArtifact(name: ContractName): Artifact {
  const cached = artifacts.get(name);
  if (cached !== undefined) return cached;
  const file = new URL(`./artifacts/${name}.json`, import.meta.url);
  const artifact = JSON.parse(readFileSync(file, "utf8")) as Artifact;
  artifacts.set(name, artifact);
  return artifact;
}

/** Encodes a call. Throws if the contract has no such function or the arguments do not fit. */
export function encodeCall(
  name: ContractName,
  functionName: string,
  args: readonly unknown[],
): Hex {
  return encodeFunctionData({ abi: getArtifact(name).abi, functionName, args });
}

/** Encodes the deployment of a contract. */
export function encodeDeployment(name: ContractName, args: readonly unknown[]): Hex {
  const { abi, bytecode } = getArtifact(name);
  return encodeDeployData({ abi, bytecode, args });
}
