import { readText } from "../tidy/project-files.ts";

/** A fenced block of a Markdown page. */
type Block = {
  readonly page: string;
  /** The number of its first line in the page, from 1. */
  readonly line: number;
  readonly language: string;
  /** The heading above it. */
  readonly section: string;
  readonly code: string;
};

/** An example, and its output according to the page. */
export type Example = Block & {
  readonly language: Language;
  /** The exact output of a script. */
  readonly prints: string | null;
  /** A part of the JSON that a shell command prints. */
  readonly answers: string | null;
};

const languages = ["sh", "ts", "python"] as const;
type Language = (typeof languages)[number];

/**
 * Returns the examples of a page. A `text` block is the output of the scripts between it and the
 * heading above. A `json` block is the output of the command directly before it.
 */
export function readExamples(page: string): Example[] {
  return readSections(page).flatMap((blocks) =>
    blocks.flatMap((block, index) => {
      const language = languages.find((one) => one === block.language);
      if (language === undefined) return [];
      const isShell = language === "sh";
      const next = blocks[index + 1];
      const printed = blocks.slice(index).find((one) => one.language === "text");
      const prints = isShell ? null : (printed?.code ?? null);
      // The block must follow directly, without text or an empty line in between.
      const isAnswer = next?.language === "json" && next.line === getEnd(block) + 2;
      const answers = isShell && isAnswer ? next.code : null;
      return [{ ...block, language, prints, answers }];
    }),
  );
}

/** The number of the line with the closing fence. */
function getEnd({ line, code }: Block): number {
  return line + code.split("\n").length - 1;
}

/** The blocks under each heading. */
function readSections(page: string): Block[][] {
  const sections: Block[][] = [[]];
  let open: { readonly language: string; readonly line: number } | null = null;
  let section = "";
  let code = "";
  for (const [index, text] of readText(page).split("\n").entries()) {
    const fence = /^```(\w*)$/.exec(text);
    if (open === null) {
      // Within a block, a line that begins with # is a comment, not a heading.
      if (text.startsWith("#")) {
        sections.push([]);
        section = text;
      }
      if (fence !== null) open = { language: fence[1] ?? "", line: index + 2 };
    } else if (fence === null) {
      code += `${text}\n`;
    } else {
      sections.at(-1)?.push({ page, section, ...open, code });
      open = null;
      code = "";
    }
  }
  return sections;
}
