import { closeSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type GranuleMap, readGranuleMap } from "./granule-map.ts";
import type { PartLayout } from "./part-layouts.ts";
import { activeParts } from "./part-names.ts";

/** A part that can be read: what is held of it in memory, and its open file. */
export type OpenPart = { readonly map: GranuleMap; readonly fd: number };

/** A part that was listed can be gone before it is opened, once what was made of it is there too. */
const triesMax = 3;

/** The parts of a table, opened as they come and closed as they go. */
export class PartShelf {
  readonly layout: PartLayout;
  readonly #folder: string;
  readonly #open = new Map<string, OpenPart>();

  /** `folder` is that of the table. */
  constructor(folder: string, layout: PartLayout) {
    this.#folder = folder;
    this.layout = layout;
  }

  /**
   * The parts that hold the rows of the table at this moment: all that were appended before, each once.
   * Throws `PartUnreadableError`, and what reading files does.
   */
  parts(): readonly OpenPart[] {
    for (let tries = 1; ; tries += 1) {
      try {
        return this.#refreshed();
      } catch (thrown) {
        const isGone = (thrown as NodeJS.ErrnoException).code === "ENOENT";
        if (!isGone || tries === triesMax) throw thrown;
      }
    }
  }

  /** Closes what was merged, which keeps its room on the disk as long as it is open; the parts that there are now. */
  letGo(): readonly string[] {
    const names = activeParts(readdirSync(this.#folder));
    const wanted = new Set(names);
    for (const [name, part] of this.#open) {
      if (wanted.has(name)) continue;
      closeSync(part.fd);
      this.#open.delete(name);
    }
    return names;
  }

  close(): void {
    for (const part of this.#open.values()) closeSync(part.fd);
    this.#open.clear();
  }

  #refreshed(): readonly OpenPart[] {
    const names = this.letGo();
    for (const name of names) {
      if (this.#open.has(name)) continue;
      this.#open.set(name, openPart(join(this.#folder, name), this.layout));
    }
    return names.flatMap((name) => this.#open.get(name) ?? []);
  }
}

function openPart(folder: string, layout: PartLayout): OpenPart {
  const map = readGranuleMap(folder, layout);
  return { map, fd: openSync(join(folder, layout.folder, "data.bin"), "r") };
}
