import type { FileHandle } from "node:fs/promises";
import { open, unlink } from "node:fs/promises";
import { Readable } from "node:stream";
import { storeLimits } from "../../base/config/limits.ts";
import { written } from "./store-errors.ts";

/** Numbers the files of this process. */
let opened = 0;

/**
 * Rows of one insert that come one after the other, in a file instead of in memory. It has no name, so
 * that nothing of it is left whatever happens. What writes rejects with `DataFolderUnwritableError`.
 */
export class SpoolFile {
  readonly #file: FileHandle;
  #length = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** It is made next to other files, by a name that begins with `prefix`. */
  static async open(prefix: string): Promise<SpoolFile> {
    const path = `${prefix}-rows-${opened}`;
    opened += 1;
    const file = await written(open(path, "w+"));
    try {
      await written(unlink(path));
      return new SpoolFile(file);
    } catch (thrown) {
      await file.close();
      throw thrown;
    }
  }

  /** Bytes. */
  get length(): number {
    return this.#length;
  }

  /** By which this process opens it again, as long as it is not closed. */
  get path(): string {
    return `/dev/fd/${this.#file.fd}`;
  }

  /** One after the other: the next when this has resolved. Answers where the rows begin. */
  async append(rows: Buffer): Promise<number> {
    const begin = this.#length;
    // By position: where `/dev/fd` shares its offset with the file, reading starts at the beginning.
    for (let at = 0; at < rows.length; ) {
      const writing = this.#file.write(rows, at, rows.length - at, begin + at);
      at += (await written(writing)).bytesWritten;
    }
    this.#length += rows.length;
    return begin;
  }

  async read(begin: number, rows: Buffer): Promise<void> {
    for (let at = 0; at < rows.length; ) {
      const { bytesRead } = await this.#file.read(rows, at, rows.length - at, begin + at);
      if (bytesRead === 0) throw new Error("the file of rows is shorter than what was written");
      at += bytesRead;
    }
  }

  /** All that was appended. Several may be open at the same time. */
  stream(): Readable {
    return Readable.from(this.#pieces(), { objectMode: false });
  }

  async *#pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < this.#length; ) {
      const piece = Buffer.allocUnsafe(Math.min(storeLimits.spoolReadBytes, this.#length - at));
      await this.read(at, piece);
      yield piece;
      at += piece.length;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
