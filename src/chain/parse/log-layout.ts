import { type Literal, toLiteral } from "./log-bytes.ts";

/** The members of a JSON log, in the order in which a node writes them. */
export type LogLayout = {
  readonly members: readonly { readonly name: MemberName; readonly lead: Literal }[];
  /** The text after the last value. */
  readonly tail: Literal;
};

/** How each value opens, up to the part that differs between logs, and how it closes. */
const forms = {
  address: ['"', '"'],
  topics: ['["', '"]'],
  data: ['"', '"'],
  blockNumber: ['"', '"'],
  blockHash: ['"', '"'],
  transactionHash: ['"', '"'],
  transactionIndex: ['"', '"'],
  logIndex: ['"', '"'],
  blockTimestamp: ['"', '"'],
  removed: ["false", ""],
} as const;

/** The name of a member. */
export type MemberName = keyof typeof forms;

const optional: ReadonlySet<string> = new Set(["blockTimestamp", "removed"]);
const required = Object.keys(forms).filter((name) => !optional.has(name));
/** How many bytes to look at: enough for events with kilobytes of data. */
const logBytesMax = 64 * 1024;

/** Learns the layout of the log at `start`; `null` when it has white space, unusual members or unusual types. */
export function learnLayout(body: Buffer, start: number): LogLayout | null {
  const text = body.toString("latin1", start, start + logBytesMax);
  const member = /([{,])"(\w+)":("[^"\\]*"|\["[^\\\]]*"\]|false)/y;
  const members: { name: MemberName; lead: Literal }[] = [];
  let end = "";
  let endAt = 0;
  let match = member.exec(text);
  for (; match !== null; match = member.exec(text)) {
    const [, mark = "", name = "", value = ""] = match;
    const isFirst = members.length === 0;
    if (isFirst !== (mark === "{") || !isMember(name)) return null;
    if (members.some((before) => before.name === name)) return null;
    const [open, close] = forms[name];
    if (!value.startsWith(open)) return null;
    members.push({ name, lead: toLiteral(`${end}${mark}"${name}":${open}`) });
    end = close;
    endAt = member.lastIndex;
  }
  if (text[endAt] !== "}") return null;
  const hasAll = required.every((name) => members.some((one) => one.name === name));
  return hasAll ? { members, tail: toLiteral(`${end}}`) } : null;
}

function isMember(name: string): name is MemberName {
  return Object.hasOwn(forms, name);
}
