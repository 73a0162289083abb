import { check } from "./check.ts";
import type { Command } from "./command.ts";
import { completionOf } from "./completion.ts";
import { config } from "./config.ts";
import { demo } from "./demo.ts";
import { exportList } from "./export.ts";
import { ipCommands } from "./ips.ts";
import { keyCommands } from "./keys.ts";
import { repair } from "./repair.ts";
import { serve } from "./serve.ts";
import { tail } from "./tail.ts";

/** Every command but `help`, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  demo,
  config,
  ...keyCommands,
  ...ipCommands,
  tail,
  exportList,
  check,
  repair,
  completionOf(() => commands),
];
