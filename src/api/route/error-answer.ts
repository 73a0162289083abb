import { Type } from "typebox";
import { AppError, type ErrorCode, errorTable, publicError } from "../../base/errors.ts";

/** The content type of JSON responses, including all errors. */
export const jsonContentType = "application/json; charset=utf-8";

/** The shape of every error. */
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

/** Shows generic HTTP clients how to send a key (RFC 6750, 3). */
const keyChallenge = 'Bearer realm="oddwire"';

/** The default `Retry-After` of `SERVICE_UNAVAILABLE`, in seconds. */
const unavailableSeconds = 10;

/** Returns the status, headers and body of an error. */
export function errorAnswer(error: AppError, requestId: string) {
  const { code } = error;
  const headers: Record<string, string | number> = {
    "content-type": jsonContentType,
    "cache-control": "no-store",
  };
  if (code === "UNAUTHORIZED") headers["www-authenticate"] = keyChallenge;
  const waitByDefault = code === "SERVICE_UNAVAILABLE" ? unavailableSeconds : null;
  const { retryAfterSeconds = waitByDefault } = error;
  if (retryAfterSeconds !== null) headers["retry-after"] = retryAfterSeconds;
  return {
    status: errorTable[code].status,
    headers,
    body: JSON.stringify({ error: publicError(error, requestId) }),
  };
}

/** Converts anything thrown to the error that clients see. A bug becomes `INTERNAL_ERROR`, without details. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  switch ((thrown as { code?: unknown } | null)?.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new AppError("PAYLOAD_TOO_LARGE");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new AppError("UNSUPPORTED_MEDIA_TYPE");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new AppError("VALIDATION_ERROR", "The body is not as long as Content-Length says");
    // The client disconnected while sending. It never receives this error.
    case "ECONNRESET":
      return new AppError("VALIDATION_ERROR", "The request did not arrive completely");
    default:
      return new AppError("INTERNAL_ERROR", { cause: thrown });
  }
}
