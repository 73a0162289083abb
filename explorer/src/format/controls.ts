/** Characters of strangers' texts that nobody sees, but that reorder, hide or break what is around them. */
import { options, type VNode } from "preact";

/** Control characters but white space, ends of lines that are none in HTML, marks of direction, and spaces without width. */
const unseen =
  /[^\P{Cc}\t\n\r]|[\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/** The attributes whose texts are shown or read aloud. */
const spoken = ["title", "aria-label", "alt"] as const;

/** Makes these characters visible, by their code points. */
export function showControls(text: string): string {
  return text.replace(unseen, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `[U+${code}]`;
  });
}

/** Makes them visible in every element that is drawn from now on. Called once. */
export function showAllControls(): void {
  const before = options.vnode?.bind(options);
  options.vnode = (vnode) => {
    if (typeof vnode.type === "string") showIn(vnode);
    before?.(vnode);
  };
}

function showIn({ props }: VNode<Record<string, unknown>>): void {
  for (const name of spoken) {
    const text = props[name];
    if (typeof text === "string") props[name] = showControls(text);
  }
  const { children } = props;
  if (typeof children === "string") props.children = showControls(children);
  else if (Array.isArray(children)) {
    props.children = children.map((child: unknown) =>
      typeof child === "string" ? showControls(child) : child,
    ) as VNode[];
  }
}
