/** The theme of the page: light, dark or that of the system. */
import { computed, effect, signal } from "@preact/signals";

const names = ["auto", "light", "dark"] as const;
type Theme = (typeof names)[number];

const storedName = "oddwire-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(system.matches);

export const theme = signal<Theme>(readStored());
export const isDark = computed(() =>
  theme.value === "auto" ? isSystemDark.value : theme.value === "dark",
);

/** Applies the theme to the page and follows the system. Called once. */
export function watchTheme(): void {
  system.addEventListener("change", () => {
    isSystemDark.value = system.matches;
  });
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
    localStorage.setItem(storedName, theme.value);
  });
}

export function nextTheme(): void {
  theme.value = names[(names.indexOf(theme.value) + 1) % names.length] ?? "auto";
}

function readStored(): Theme {
  const stored = localStorage.getItem(storedName);
  return names.find((name) => name === stored) ?? "auto";
}
