// Without web fonts: the guide loads nothing but itself, and stays small.
import theme from "vitepress/theme-without-fonts";
import { h } from "vue";

// Links of the configuration lead to pages of this site only.
const servicePages = [
  ["API reference", "/docs"],
  ["Explorer", "/"],
];

const style = "margin-left: 20px; font-size: 14px; font-weight: 500; white-space: nowrap";

export default {
  extends: theme,
  Layout: () =>
    h(theme.Layout, null, {
      "nav-bar-content-after": () =>
        servicePages.map(([text, href]) => h("a", { href, style, target: "_self" }, text)),
    }),
};
