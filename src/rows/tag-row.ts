import { type Static, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import { marketRow } from "./market-row.ts";

/** A tag or category of the venue, and how many markets have it. */
export const tagRow = Type.Object({
  name: Type.String({ description: "Name, as filters take it", examples: ["Politics"] }),
  market_count: Type.Integer({ description: "Markets that have it", examples: [120] }),
  open_market_count: Type.Integer({ description: "Open markets that have it", examples: [45] }),
  volume_24h_usd: marketRow.properties.volume_24h_usd,
});

/** A tag with sums over the markets that have it. Micros. */
export type TagFacts = {
  readonly name: string;
  readonly markets: number;
  readonly openMarkets: number;
  readonly dayVolumeUsd: number;
};

/** A tag as clients see it. */
export function toTagRow({
  name,
  markets,
  openMarkets,
  dayVolumeUsd,
}: TagFacts): Static<typeof tagRow> {
  return {
    name,
    market_count: markets,
    open_market_count: openMarkets,
    volume_24h_usd: formatMicros(BigInt(Math.round(dayVolumeUsd))),
  };
}
