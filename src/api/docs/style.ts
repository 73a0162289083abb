/** The style of the docs page: one column with a list next to it, dark where the reader prefers it. */
export const style = `
:root { color-scheme: light dark; --ink: light-dark(#1b1f24, #e4e7eb); --dim: light-dark(#5b6570, #9aa5b1);
  --paper: light-dark(#fff, #14171a); --shade: light-dark(#f4f5f7, #1d2126); --line: light-dark(#dfe3e8, #30363d);
  --link: light-dark(#0b57c2, #7db3ff); --get: light-dark(#14713d, #6fd39a); --post: light-dark(#8a4b00, #f2b366);
  --delete: light-dark(#a8201a, #ff9a93); }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible, summary:focus-visible, pre:focus-visible {
  outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
code, pre, tbody th, td:nth-child(2) { font: .875em/1.5 ui-monospace, monospace; }
pre { margin: .75rem 0; padding: .75rem 1rem; overflow-x: auto; background: var(--shade); border-radius: 6px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--paper); z-index: 1; }
main, nav { padding: 1.5rem; }
nav { font-size: .9rem; border-bottom: 1px solid var(--line); }
nav h2 { margin: 1.25rem 0 .25rem; font-size: .8rem; color: var(--dim); }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li { padding: .15rem 0; overflow-wrap: anywhere; }
nav a { color: inherit; text-decoration: none; }
nav a:hover { text-decoration: underline; }
h1 { margin: 0; font-size: 1.6rem; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.3rem; }
h3 { margin: 2.25rem 0 .25rem; font-size: 1rem; overflow-wrap: anywhere; }
h4 { margin: 1rem 0 .25rem; font-size: .85rem; color: var(--dim); }
p { margin: .5rem 0; max-width: 70ch; }
section { border-top: 1px solid var(--line); }
.dim { color: var(--dim); }
.get { color: var(--get); } .post { color: var(--post); } .delete { color: var(--delete); }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
td { overflow-wrap: anywhere; }
th { font-weight: 600; width: 20%; } thead th { border-top: 0; color: var(--dim); font-size: .85rem; }
summary { cursor: pointer; padding: .35rem 0; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border: 0; border-right: 1px solid var(--line); }
  main { max-width: 62rem; padding: 2rem 3rem 6rem; }
}
`;
