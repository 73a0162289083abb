import { readSync } from "node:fs";
import { mustBe } from "./part-unreadable-error.ts";

/** A stretch of a file in memory that is used again: what was read last need not be read twice. */
export class FileWindow {
  #memory: Buffer = Buffer.alloc(0);
  #fd = -1;
  #from = 0;
  #to = 0;

  /** The bytes of a file from `from` on up to `to`; good until the next call. Throws `PartUnreadableError` when it ends before. */
  bytes(fd: number, from: number, to: number): Buffer {
    const isThere = fd === this.#fd && from >= this.#from && to <= this.#to;
    if (!isThere) this.#read(fd, from, to);
    return this.#memory.subarray(from - this.#from, to - this.#from);
  }

  /** Files may have been closed since, and their numbers be those of others. */
  forget(): void {
    this.#fd = -1;
  }

  #read(fd: number, from: number, to: number): void {
    this.#fd = -1;
    if (this.#memory.length < to - from) this.#memory = Buffer.allocUnsafeSlow(to - from);
    for (let at = from; at < to; ) {
      const got = readSync(fd, this.#memory, at - from, to - at, at);
      mustBe(got > 0, "a file is as long as it was");
      at += got;
    }
    this.#fd = fd;
    this.#from = from;
    this.#to = to;
  }
}
