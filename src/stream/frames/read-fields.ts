import { AppError, type ErrorDetail } from "../../base/errors.ts";
import { shown, unknownName, wrongValue } from "../../base/near-name.ts";

/** A field of a frame: `read` turns its JSON value into ours, `null` when it is not what is `expected`. */
export type Field<Value> = {
  readonly expected: string;
  readonly read: (raw: unknown) => Value | null;
};

type Fields = Readonly<Record<string, Field<unknown>>>;
type ValueOf<One> = One extends Field<infer Value> ? Value : never;

/** What was given of some fields. */
export type Values<Known extends Fields> = {
  readonly [Name in keyof Known]?: ValueOf<Known[Name]>;
};

/** No frame has more fields than this. */
const faultsMax = 20;

/** Reads the fields of a JSON object. Throws `VALIDATION_ERROR` for unknown and malformed ones, after `place`. */
export function readFields<Known extends Fields>(
  input: unknown,
  known: Known,
  place = "",
): Values<Known> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw invalidFrame(place.replace(/\.$/, "") || "frame", "must be a JSON object");
  }
  const values: Record<string, unknown> = {};
  const faults: ErrorDetail[] = [];
  for (const [name, raw] of Object.entries(input)) {
    const field = Object.hasOwn(known, name) ? known[name] : undefined;
    const value = field?.read(raw) ?? null;
    if (value !== null) values[name] = value;
    else faults.push({ parameter: place + shown(name), issue: issueOf(name, known, raw) });
    if (faults.length === faultsMax) break;
  }
  if (faults.length > 0) throw invalid(faults);
  return values as Values<Known>;
}

/** `VALIDATION_ERROR` about one field. */
export function invalidFrame(parameter: string, issue: string): AppError {
  return invalid([{ parameter, issue }]);
}

function invalid(details: readonly ErrorDetail[]): AppError {
  const publicMessage = `${details[0]?.parameter} ${details[0]?.issue}`;
  return new AppError("VALIDATION_ERROR", { publicMessage, details });
}

function issueOf(name: string, known: Fields, raw: unknown): string {
  const field = Object.hasOwn(known, name) ? known[name] : undefined;
  if (field !== undefined) return wrongValue(raw, field.expected);
  return unknownName(name, Object.keys(known));
}
