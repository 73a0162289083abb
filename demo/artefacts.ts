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

type Artefact = { readonly abi: Abi; readonly bytecode: Hex };

const artefacts = new Map<ContractName, Artefact>();

/** A compiled contract of demo/contracts. */
export function artefactOf(name: ContractName): Artefact {
  const known = artefacts.get(name);
  if (known !== undefined) return known;
  const file = new URL(`./artefacts/${name}.json`, import.meta.url);
  const artefact = JSON.parse(readFileSync(file, "utf8")) as Artefact;
  artefacts.set(name, artefact);
  return artefact;
}

/** The data of a call. Throws when the contract has no such function or the arguments do not fit. */
export function encodeCall(
  name: ContractName,
  functionName: string,
  args: readonly unknown[],
): Hex {
  return encodeFunctionData({ abi: artefactOf(name).abi, functionName, args });
}

/** The data that deploys a contract. */
export function encodeDeployment(name: ContractName, args: readonly unknown[]): Hex {
  const { abi, bytecode } = artefactOf(name);
  return encodeDeployData({ abi, bytecode, args });
}
