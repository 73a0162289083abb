import { Type } from "typebox";
import { AppError, type ErrorCode, errorTable, publicError } from "../../base/errors.ts";

/** Of every answer with a body. */
export const jsonContentType = "application/json; charset=utf-8";

/** The one shape of all errors. */
export const errorSchema = Type.Object({
  error: Type.Object({
    code: Type.Enum(Object.keys(errorTable) as ErrorCode[]),
    message: Type.String({ description: "For people; may change" }),
    details: Type.Optional(
      Type.Array(Type.Object({ parameter: Type.String(), issue: Type.String() }), {
        description: "The parameters at fault",
      }),
    ),
    request_id: Type.String(),
  }),
});

/** Shows clients that know only HTTP how to send a key (RFC 6750, 3). */
const keyChallenge = 'Bearer realm="oddwire"';

/** When to retry something unavailable whose error does not say when. */
const unavailableSeconds = 10;

/** An error as it is sent. */
export function errorAnswer(error: AppError, requestId: string) {
  const { code, retryAfterSeconds } = error;
  const headers: Record<string, string | number> = {
    "content-type": jsonContentType,
    "cache-control": "no-store",
  };
  if (code === "UNAUTHORIZED") headers["www-authenticate"] = keyChallenge;
  const waitSeconds =
    retryAfterSeconds ?? (code === "SERVICE_UNAVAILABLE" ? unavailableSeconds : null);
  if (waitSeconds !== null) headers["retry-after"] = waitSeconds;
  return {
    status: errorTable[code].status,
    headers,
    body: JSON.stringify({ error: publicError(error, requestId) }),
  };
}

/** What clients see of anything thrown; of a bug, only that there was one. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  switch ((thrown as { code?: unknown } | null)?.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new AppError("PAYLOAD_TOO_LARGE");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new AppError("UNSUPPORTED_MEDIA_TYPE");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new AppError("VALIDATION_ERROR", "The body is not as long as Content-Length says");
    // The client hung up while sending and never receives the answer.
    case "ECONNRESET":
      return new AppError("VALIDATION_ERROR", "The request did not arrive whole");
    default:
      return new AppError("INTERNAL_ERROR", { cause: thrown });
  }
}
