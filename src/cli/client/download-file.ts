import { createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { toError } from "../../base/errors.ts";
import { systemClock } from "../../base/time/clock.ts";
import { CommandError } from "../command.ts";
import type { DownloadProgress } from "./download-progress.ts";

/** A list as a file. */
export type Download = {
  readonly url: URL;
  readonly key: string;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly progress: DownloadProgress;
};

const attemptsMax = 4;
const firstPauseMs = 1000;
const pauseMsMax = 60_000;

/** Worth a retry; `pauseMs` when the service said after how long. */
class PassingError extends Error {
  override name = "PassingError";
  readonly pauseMs: number | null;

  constructor(message: string, options: { pauseMs: number | null; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.pauseMs = options.pauseMs;
  }
}

/**
 * Downloads a file, which is `<path>.part` until it is complete. Resolves with the cursor of the next file.
 * Retries 429, 5xx and connections that fail or break off. Throws `CommandError` after the last attempt.
 */
export async function downloadFile(download: Download): Promise<string | null> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await downloadOnce(download);
    } catch (thrown) {
      download.signal.throwIfAborted();
      if (!(thrown instanceof PassingError)) throw thrown;
      if (attempt === attemptsMax) throw failure(thrown.message, thrown);
      const pauseMs = thrown.pauseMs ?? firstPauseMs * 2 ** (attempt - 1);
      await systemClock.sleep(Math.min(pauseMs, pauseMsMax), download.signal);
    }
  }
}

async function downloadOnce({
  url,
  key,
  path,
  signal,
  progress,
}: Download): Promise<string | null> {
  const answer = await fetch(url, { headers: { "x-api-key": key }, signal }).catch(connectionLost);
  if (!answer.ok || answer.body === null) return refuse(answer);
  const count = answer.headers.get("x-row-count");
  progress.begin(path, count === null ? null : Number(count));
  const counted = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      progress.add(chunk);
      done(null, chunk);
    },
  });
  const part = `${path}.part`;
  const file = createWriteStream(part, { flush: true });
  // A disk that is full does not pass on its own; a body that breaks off does.
  let writeError: Error | null = null;
  file.once("error", (error) => (writeError = error));
  const body = Readable.fromWeb(answer.body);
  await pipeline(body, counted, file, { signal }).catch((thrown: unknown) => {
    if (writeError !== null)
      throw failure(`a file cannot be written: ${writeError.message}`, thrown);
    throw new PassingError("the connection broke off", { pauseMs: null, cause: thrown });
  });
  await rename(part, path);
  progress.end();
  return answer.headers.get("x-next-cursor");
}

function connectionLost(thrown: unknown): never {
  const { cause, message } = toError(thrown);
  const reason = cause instanceof Error ? cause.message : message;
  throw new PassingError(`the service cannot be reached: ${reason}`, {
    pauseMs: null,
    cause: thrown,
  });
}

async function refuse(answer: Response): Promise<never> {
  const shown = (await answer.json().catch(() => ({}))) as { error?: { message?: string } };
  const message = `the service answered ${answer.status}: ${shown.error?.message ?? "no reason"}`;
  if (answer.status !== 429 && answer.status < 500) throw failure(message);
  const seconds = Number(answer.headers.get("retry-after"));
  throw new PassingError(message, { pauseMs: seconds > 0 ? seconds * 1000 : null });
}

function failure(message: string, cause?: unknown): CommandError {
  return new CommandError(message, { cause });
}
