import { styleText } from "node:util";

/** Text in a style where the stream is a terminal that shows one, else the text alone. */
export type Paint = (style: "bold" | "cyan" | "dim" | "green" | "red", text: string) => string;

/** Paints for one stream; `NO_COLOR` and its kin are heard. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}
