import { OddwireError } from "../../../client/src/oddwire-error.ts";
import { CommandError } from "../command.ts";

/** Runs calls to a service; what it refuses, and that it cannot be reached, become a `CommandError`. */
export async function callService(run: () => Promise<void>, signal?: AbortSignal): Promise<void> {
  try {
    await run();
  } catch (thrown) {
    if (signal?.aborted) return;
    throw thrown instanceof OddwireError ? failureOf(thrown) : thrown;
  }
}

function failureOf({ code, message, cause }: OddwireError): CommandError {
  const reason = cause instanceof Error ? `: ${reasonOf(cause)}` : "";
  const sentence =
    code === "UNREACHABLE"
      ? `the service cannot be reached${reason}`
      : `the service refused: ${message}`;
  return new CommandError(sentence, { cause });
}

/** What `fetch` failed of is in its cause. */
function reasonOf({ cause, message }: Error): string {
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}
