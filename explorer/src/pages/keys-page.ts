import type { Key } from "../../../client/src/api.ts";
import { fill, h, notice, panel } from "../dom.ts";
import { day, exact } from "../format.ts";
import { type Page, type PageContext, wordsOf } from "../page.ts";

/** Keys for a key of scope admin: list, create, rotate, revoke. */
export const keysPage: Page = (context) => {
  const keys = new Keys(context);
  void keys.read();
  return h("div", {}, h("h1", {}, "Keys"), keys.element);
};

class Keys {
  readonly #said = h("div", { "aria-live": "polite" });
  readonly #table = h("div", { class: "scroll" });
  readonly element = h("div", {}, this.#said, this.#form(), panel("All keys", this.#table));
  readonly #context: PageContext;

  constructor(context: PageContext) {
    this.#context = context;
  }

  async read(): Promise<void> {
    await this.#attempt(async () => {
      const rows: HTMLElement[] = [];
      for await (const key of this.#context.client.keys({ limit: 100 })) rows.push(this.#row(key));
      const names = ["Name", "Scope", "Begins with", "Status", "Last used", "Requests", ""];
      const head = h("tr", {}, ...names.map((name) => h("th", {}, name)));
      fill(this.#table, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)));
    });
  }

  #form(): HTMLElement {
    const name = h("input", { name: "name", required: true, maxlength: 100, "aria-label": "Name" });
    name.placeholder = "Name";
    const scope = h(
      "select",
      { name: "scope", "aria-label": "Scope" },
      ...["read", "write", "admin"].map((value) => h("option", { value }, value)),
    );
    const create = h("button", { class: "primary" }, "Create key");
    const form = h("form", {}, name, scope, create);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#attempt(async () => {
        const body = { name: name.value.trim(), scope: scope.value as Key["scope"] };
        const { key } = await this.#context.client.createKey(body);
        form.reset();
        this.#showValue(key);
        await this.read();
      });
    });
    return form;
  }

  #row(key: Key): HTMLElement {
    const { id, name, scope, prefix, status, last_used_at: used, request_count: requests } = key;
    const act = (text: string, question: string, action: () => Promise<void>): HTMLElement =>
      h(
        "button",
        {
          type: "button",
          "aria-label": `${text} ${name}`,
          click: () => {
            if (confirm(question)) void this.#attempt(action).then(async () => this.read());
          },
        },
        text,
      );
    const rotate = act(
      "Rotate",
      `Give ${name} a new value? The old one dies immediately.`,
      async () => this.#showValue((await this.#context.client.rotateKey(id)).key),
    );
    const revoke = act("Revoke", `Revoke ${name} for good?`, async () => {
      await this.#context.client.revokeKey(id);
    });
    return h(
      "tr",
      {},
      h("td", {}, name),
      h("td", {}, scope),
      h("td", { class: "mono" }, prefix),
      h("td", { class: status === "active" ? "up" : "dim" }, status),
      h("td", {}, day(used === null ? null : Date.parse(used))),
      h("td", { class: "right" }, exact(requests)),
      h("td", {}, ...(status === "active" ? [rotate, " ", revoke] : [])),
    );
  }

  #showValue(value: string): void {
    fill(
      this.#said,
      h("p", { class: "notice" }, "The value, shown this once: ", h("code", {}, value)),
    );
  }

  /** Says what went wrong, where something did. */
  async #attempt(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (thrown) {
      fill(this.#said, notice(wordsOf(thrown)));
    }
  }
}
