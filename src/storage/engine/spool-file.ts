import type { FileHandle } from "node:fs/promises";
import { open, unlink } from "node:fs/promises";
import { Readable } from "node:stream";
import { closeOnError } from "../../base/close-on-error.ts";
import { storeLimits } from "../../base/config/limits.ts";
import { awaitWrite } from "./store-errors.ts";

/** Numbers the files of this process. */
let opened = 0;

/**
 * A file for the rows of one insert that arrive over time, so that they do not take memory. The file is unlinked
 * right after it is created, so a crash leaves nothing. Writes reject with `DataDirectoryUnwritableError`.
 */
export class SpoolFile {
  readonly #file: FileHandle;
  #length = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Creates a file. `prefix` begins its path. */
  static async open(prefix: string): Promise<SpoolFile> {
    const path = `${prefix}-rows-${opened}`;
    opened += 1;
    const file = await awaitWrite(open(path, "w+"));
    await closeOnError(file, () => awaitWrite(unlink(path)));
    return new SpoolFile(file);
  }

  /** The length, in bytes. */
  get length(): number {
    return this.#length;
  }

  /** The path by which this process can open the file again until it is closed. */
  get path(): string {
    return `/dev/fd/${this.#file.fd}`;
  }

  /** Appends rows and returns where they begin, in bytes. Call it again only after it has resolved. */
  async append(rows: Uint8Array): Promise<number> {
    const begin = this.#length;
    // Writing by position leaves the offset at 0. Where `/dev/fd` shares it, a reader starts at the beginning.
    for (let at = 0; at < rows.length; ) {
      const writing = this.#file.write(rows, at, rows.length - at, begin + at);
      at += (await awaitWrite(writing)).bytesWritten;
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

  /** Returns a stream of everything appended. Several streams can be open at the same time. */
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
