/** Elements without a framework: made, filled and replaced. */

type Child = Node | string | number | null | undefined | false;

/** Attributes by their name; functions listen to the event of that name; `false` leaves it out. */
type Attributes = Readonly<Record<string, string | number | boolean | ((event: Event) => void)>>;

/** An element with attributes and content. Text is always text, never markup. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  fill(element, ...children);
  return element;
}

/** Puts this in place of all that an element holds. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(
    ...children
      .filter((child) => child !== null && child !== undefined && child !== false)
      .map((child) => (typeof child === "number" ? String(child) : child)),
  );
}

/** Terms and what is said about them. */
export function terms(pairs: readonly (readonly [string, Child])[]): HTMLElement {
  return h("dl", {}, ...pairs.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]));
}

/** A part of a page with a heading. */
export function panel(title: string, ...children: readonly Child[]): HTMLElement {
  return h("section", { class: "panel" }, h("h2", {}, title), ...children);
}

/** What went wrong, in words, where the content would be. */
export function notice(text: string): HTMLElement {
  return h("p", { class: "notice", role: "status" }, text);
}
