import { OddwireError } from "../../../client/src/oddwire-error.ts";
import { fetchFailure } from "../../base/errors.ts";
import { CommandError } from "../command.ts";

/** Runs calls to a service. Throws `CommandError` when it refuses or cannot be reached, unless `signal` is aborted. */
export async function callService(run: () => Promise<void>, signal?: AbortSignal): Promise<void> {
  try {
    await run();
  } catch (thrown) {
    if (signal?.aborted) return;
    throw thrown instanceof OddwireError ? failureOf(thrown) : thrown;
  }
}

function failureOf({ code, message, cause }: OddwireError): CommandError {
  const reason = cause instanceof Error ? `: ${fetchFailure(cause)}` : "";
  const sentence =
    code === "UNREACHABLE"
      ? `the service cannot be reached${reason}`
      : `the service refused: ${message}`;
  return new CommandError(sentence, { cause });
}
