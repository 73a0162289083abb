import { ipCommands } from "./admin/ips.ts";
import { keyCommands } from "./admin/keys.ts";
import { exportList } from "./client/export-command.ts";
import { status } from "./client/status-command.ts";
import { tail } from "./client/tail-command.ts";
import type { Command } from "./command.ts";
import { completionOf } from "./completion.ts";
import { check } from "./service/check-command.ts";
import { clusterCommands } from "./service/cluster-commands.ts";
import { config } from "./service/config-command.ts";
import { demo } from "./service/demo.ts";
import { repair } from "./service/repair-command.ts";
import { serve } from "./service/serve.ts";

/** Every command but `help`, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  demo,
  config,
  ...keyCommands,
  ...ipCommands,
  status,
  tail,
  exportList,
  check,
  repair,
  ...clusterCommands,
  completionOf(() => commands),
];
