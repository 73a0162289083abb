/** Markup that is safe as it is. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | readonly Html[];

/** A template whose values are escaped, unless they are markup themselves. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const written = parts.map((part, index) => write(part) + (texts[index + 1] ?? ""));
  return new Html((texts[0] ?? "") + written.join(""));
}

function write(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(({ text }) => text).join("");
  return String(part).replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
