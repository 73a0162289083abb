import { OddwireError } from "../../../clients/typescript/src/oddwire-error.ts";
import { fetchFailure } from "../../base/errors.ts";
import { CommandError } from "../command.ts";

/**
 * Runs calls to a service. Throws `CommandError` when it refuses or cannot be reached, or when a file cannot be used,
 * unless `signal` is aborted.
 */
export async function callService(run: () => Promise<void>, signal?: AbortSignal): Promise<void> {
  try {
    await run();
  } catch (thrown) {
    if (signal?.aborted) return;
    if (thrown instanceof OddwireError) throw toFailure(thrown);
    if (!isFileError(thrown)) throw thrown;
    throw new CommandError(`a file cannot be used: ${thrown.message}`, { cause: thrown });
  }
}

/** Whether the system refused a call for a file. Errors of connections are of `OddwireError`. */
function isFileError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && "syscall" in thrown;
}

function toFailure({ code, message, cause }: OddwireError): CommandError {
  const reason = cause instanceof Error ? `: ${fetchFailure(cause)}` : "";
  const sentence =
    code === "UNREACHABLE"
      ? `the service cannot be reached${reason}`
      : `the service refused: ${message}`;
  return new CommandError(sentence, { cause });
}
