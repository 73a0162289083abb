import type { TokenId } from "../base/ids.ts";
import { storeLimits } from "../base/limits.ts";

/**
 * Token ids as text from their bytes in rows. A token comes again and again, and making its text
 * costs some times what finding it does; whoever has it as a key gains as well when it is the same.
 * Two generations are kept: when the younger is full, the older is forgotten.
 */
export class TokenTexts {
  #young = new Map<string, TokenId>();
  #old = new Map<string, TokenId>();

  /** The token whose 32 bytes stand at `at`. */
  at(rows: Buffer, at: number): TokenId {
    const key = rows.toString("latin1", at, at + 32);
    const known = this.#young.get(key);
    if (known !== undefined) return known;
    const text = this.#old.get(key) ?? (`0x${rows.toString("hex", at, at + 32)}` as TokenId);
    this.#remember(key, text);
    return text;
  }

  #remember(key: string, text: TokenId): void {
    if (this.#young.size >= storeLimits.tokenTextsMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, text);
  }
}
