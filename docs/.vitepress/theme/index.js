// Without web fonts: the guide loads nothing but itself, and stays small.
export { default } from "vitepress/theme-without-fonts";
