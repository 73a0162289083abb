import { readText } from "../tidy/project-files.ts";

/** A fenced block of a Markdown page. */
type Block = {
  readonly page: string;
  /** Of its first line within the page, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
};

/** An example, and what the page says it prints. */
export type Example = Block & {
  readonly language: Language;
  /** Exactly what is printed, of scripts. */
  readonly prints: string | null;
  /** Part of the JSON that is printed, of shell commands. */
  readonly answers: string | null;
};

const languages = ["sh", "js", "ts", "python"] as const;
type Language = (typeof languages)[number];

/**
 * The examples of a page. What a `text` block says is printed by the scripts between it and the
 * heading above, what a `json` block says by the command right before it.
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
      // Right behind it: neither words nor an empty line are between the two.
      const isAnswer = next?.language === "json" && next.line === endOf(block) + 2;
      const answers = isShell && isAnswer ? next.code : null;
      return [{ ...block, language, prints, answers }];
    }),
  );
}

/** The line of the closing fence. */
function endOf({ line, code }: Block): number {
  return line + code.split("\n").length - 1;
}

/** The blocks under each heading. */
function readSections(page: string): Block[][] {
  const sections: Block[][] = [[]];
  let open: { readonly language: string; readonly line: number } | null = null;
  let code = "";
  for (const [index, text] of readText(page).split("\n").entries()) {
    const fence = /^```(\w*)$/.exec(text);
    if (open === null) {
      // A line that begins like one within a block is a comment.
      if (text.startsWith("#")) sections.push([]);
      if (fence !== null) open = { language: fence[1] ?? "", line: index + 2 };
    } else if (fence === null) {
      code += `${text}\n`;
    } else {
      sections.at(-1)?.push({ page, ...open, code });
      open = null;
      code = "";
    }
  }
  return sections;
}
