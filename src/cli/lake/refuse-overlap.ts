import { areOverlapping } from "../../base/config/overlapping-folders.ts";
import { UsageError } from "../command.ts";

/** Throws `UsageError` when the files of a lake and those of a store would be in one folder. */
export function refuseOverlap(lake: string, dataDir: string): void {
  if (!areOverlapping(lake, dataDir)) return;
  throw new UsageError(
    `the lake ${lake} and the data directory ${dataDir} overlap: give the lake a folder of its own`,
  );
}
