/** Starts the explorer, which uses nothing but the public API. */
import { render } from "preact";
import { App } from "./app/app.tsx";
import { watchTheme } from "./app/theme.ts";
import { showAllControls } from "./format/controls.ts";
import { watchLocation } from "./routing/location.ts";
import { openSession } from "./service/session.ts";

showAllControls();
watchTheme();
watchLocation();
void openSession();
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
