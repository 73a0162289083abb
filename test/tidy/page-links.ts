import { dirname, posix } from "node:path";
import { listFiles, readText } from "./project-files.ts";

/** A link of a page to a file of the project, or to a heading of one. */
export type PageLink = {
  readonly line: number;
  /** The address as it is written in the page. */
  readonly address: string;
  readonly path: string;
  readonly heading: string | null;
};

/** Reads the links of a Markdown page that stay within the project. */
export function readLinks(page: string): PageLink[] {
  return readText(page)
    .split("\n")
    .flatMap((text, index) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, address = ""]) => {
        if (/^[a-z]+:/.test(address)) return [];
        const [file = "", heading = null] = address.split("#");
        const path = file === "" ? page : posix.join(dirname(page), file);
        return [{ line: index + 1, address, path, heading }];
      }),
    );
}

/** Whether the file or folder of a link exists, and the heading too if the link names one. */
export function isReachable({ path, heading }: PageLink, files = listFiles()): boolean {
  if (!files.includes(path)) {
    const folder = path.endsWith("/") ? path : `${path}/`;
    return heading === null && files.some((file) => file.startsWith(folder));
  }
  return heading === null || readAnchors(path).includes(heading);
}

/** The anchors of a page, derived from its headings like code hosts derive them. */
function readAnchors(page: string): string[] {
  return [...readText(page).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
