import type { ContractsFile } from "./contracts.ts";

/**
 * The deployment on Polygon (chain 137), from the public repositories and subgraphs of the venue. Where the block of
 * a deployment is not known exactly, a lower bound is used, so that no log is missed.
 */
export const polygonContracts: ContractsFile = {
  collateral: "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174",
  wrapped_collateral: "0x3A3BD7bb9528E159577F7C2e685CC81A765002E2",
  known_creators: [
    "0x91430cad2d3975766499717fa0d66a78d814e5c5",
    "0xac9930b2ae455a671b62de86876a7e8587825294",
    "0xf43d55f3a8b7484ed4b6931f93cb6f9ef5dd369d",
  ],
  // Of the contracts of Protocol V2, by proxy, oldest first.
  known_implementations: [
    "0x30c038F0Dae8dcC3E6AD51D016F50821D32Cb87e", // PositionManager
    "0xCc5De1e9D14a7AB75E872E23FC9D605518Bac2D0",
    "0x7345C6842b244926125ed4054905cAc49620B5dc", // Exchange
    "0x641b40ec414a076b9e79E703Fc7BF4EBEC248Bb7",
    "0x492FEc596eC347459E1Ebe30b9245EB3B49B1BBa", // BinaryModule
    "0xf6428c0B5fa9361c0708CDdb95468cf54C56e9A2",
    "0xA61e7ca374F721D5b9FD5b0FEe6Fb90f27d448d7", // NegRiskModule
    "0x39a5B01a100edF811f2748aa37B1313715Ded70e",
    "0x03CC063e6F9552E3842136538092134EdC8962DE", // CombinatorialModule
    "0x572cD48cCe93B2E58F1cc0253a7fDd4B4952a9C2",
    "0xf96968a44022B17240B42c557693E7C383d2d8a3",
    "0x822e8A97AF8005073F2f6E88435D692E33ab6082", // OracleAggregator
    "0xBd49A21677Da630fF5Efec52B7309d0Ada685d81", // OOReporterModule
    "0x33823856ff1c89cD6940f8Ad3d03786C439d6ca5", // ChainlinkReporterModule
    "0x5fe0280873f5539da12B6b5b37484E0B0c28Ab14", // EOAReporterModule
  ],
  contracts: [
    exchange("0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E", ["standard", 1], 33605403),
    exchange("0xC5d563A36AE78145C45a50134d48A1215220f80a", ["neg_risk", 1], 50505492),
    exchange("0xE111180000d2663C0091e4f400237545B87B996B", ["standard", 2], 84902353),
    exchange("0xe2222d279d744050d28e00520010520000310F59", ["neg_risk", 2], 84902353),
    // Replaced within days of being listed, but it has trades.
    exchange("0xe2222d002000Ba0053CEF3375333610F64600036", ["neg_risk", 2], 84902353),
    exchange("0xe3333700cA9d93003F00f0F71f8515005F6c00Aa", ["standard", 3], 87479409),
    other("fee_module", "0xE3f18aCc55091e2c48d883fc8C8413319d4Ab7b0", 75253526),
    other("fee_module", "0xB768891e3130F6dF18214Ac804d4DB76c2C37730", 75253721),
    other("fee_module", "0x56C79347e95530c01A2FC76E732f9566dA16E113", 33605403),
    other("fee_module", "0x78769D50Be1763ed1CA0D5E878D93f05aabff29e", 50505492),
    other("conditional_tokens", "0x4D97DCd97eC945f40cF65F87097ACe5EA0476045", 4023686),
    other("neg_risk_adapter", "0xd91E80cF2E7be2e162c6513ceD06f1dD0dA35296", 50505403),
    other("neg_risk_operator", "0x71523d0f655B41E805Cec45b17163f528B59B820", 50505403),
    other("neg_risk_operator", "0x661992aebf6BecF7BA5abB66f6b0Bf62Aa7a2E93", 50505403),
    other("uma_adapter_v1", "0xCB1822859cEF82Cd2Eb4E6276C7916e692995130", 23569780),
    other("uma_adapter_v1", "0xB97455fcF78eb37375e8be6f26df895341CA073d", 29838630),
    other("uma_adapter", "0x6A9D222616C90FcA5754cd1333cFD9b7fb6a4F74", 34876144),
    other("uma_adapter", "0x157Ce2d672854c848c9b79C49a8Cc6cc89176a49", 46755254),
    other("uma_adapter", "0x65070BE91477460D8A7AeEb94ef92fe056C2f2A7", 74797879),
    other("uma_adapter", "0x71392E133063CC0D16F40E1F9B60227404Bc03f7", 43375847),
    other("uma_adapter", "0x2F5e3684cb1F318ec51b00Edba38d79Ac2c0aA9d", 50505488),
    other("uma_adapter", "0x69c47De9D4D3Dad79590d61b9e05918E03775f24", 82000000),
    // The oracle of the adapters from version 2 on, and the managed one of version 4.
    other("optimistic_oracle", "0xeE3Afe347D5C74317041E2618C49534dAf887c24", 34876144),
    other("optimistic_oracle", "0x2C0367a9DB231dDeBd88a94b4f6461a6e47C58B1", 74677419),
    other("oracle", "0x58e1745bedda7312c4cddb72618923da1b90efde", 33605403),
    other("oracle", "0xb21182d0494521Cf45DbbeEbb5A3ACAAb6d22093", 68931384),
    other("binary_module", "0x1000008dD9001B968442c1000017eaE6E0dA00Ba", 85300000),
    other("neg_risk_module", "0x200000900045e3B6259600682756002200028933", 85300000),
    other("combinatorial_module", "0x30000034706C7d8e12009DAB006Be20000c031A8", 85300000),
    other("oracle_aggregator", "0x0A0a0A0A8B00C51b7D810501b03F230028C04a87", 85300000),
    other("position_manager", "0x006F54F7f9A22e0000CC2AB60031000000ae9fEF", 85300000),
    other("reporter_module", "0x000012e0009c84078c4924fba808A41b9f67527f", 85300000),
    other("reporter_module", "0x8Ef9D6d668798b1f363b305D916F30739d2b0419", 85300000),
    other("chainlink_module", "0xc12EC12E0000326890Ca5560dEf5EB5C22b16814", 85300000),
    other("oo_reporter", "0x53703Dd6129d723066b6362510E5aE2fECd48218", 85300000),
    other("collateral_adapter", "0xADa100874d00e3331D00F2007a9c336a65009718", 84902353),
    other("collateral_adapter", "0xAdA200001000ef00D07553cEE7006808F895c6F1", 84902353),
    other("collateral_adapter", "0xAdA100Db00Ca00073811820692005400218FcE1f", 84902353),
    other("collateral_adapter", "0xadA2005600Dec949baf300f4C6120000bDB6eAab", 84902353),
    other("auto_redeemer", "0xa1200000d0002264C9a1698e001292D00E1b00af", 85300000),
    other("router", "0x12121212006e4CD160D18e3f00711DA5c3372600", 87479409),
    other("neg_risk_vault", "0x7f67327E88c258932D7d8f72950bE0d46975E11D", 50505403),
    other("burn_address", "0xA5Ef39C3D3e10d0B270233af41CaC69796B12966", 50505403),
  ],
};

type Entry = ContractsFile["contracts"][number];

function exchange(
  address: string,
  [exchange, generation]: readonly ["standard" | "neg_risk", 1 | 2 | 3],
  start_block: number,
): Entry {
  return { kind: "exchange", address, exchange, generation, start_block };
}

function other(
  kind: Exclude<Entry["kind"], "exchange">,
  address: string,
  start_block: number,
): Entry {
  return { kind, address, start_block };
}
