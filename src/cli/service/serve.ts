import { saveCompiledCode } from "../../base/config/compile-cache.ts";
import { readConfig } from "../../base/config/config.ts";
import { version } from "../../base/config/version.ts";
import { openLog } from "../../base/log.ts";
import { RepairOrderedError } from "../../feed/auditor.ts";
import { Service } from "../../main.ts";
import { type Command, exitCodes } from "../command.ts";
import { awaitSignal } from "./await-signal.ts";

/** Runs until a signal, or until only a restart can help. */
export const serve: Command = {
  name: "serve",
  summary: "Index the chain and serve it",
  details: `All settings are ODDWIRE_* variables. The first line on standard output says where it listens,
as JSON; logs go to standard error. SIGTERM and SIGINT let requests in flight finish.`,
  options: {},
  examples: ["ODDWIRE_RPC_URLS=https://polygon-bor-rpc.publicnode.com oddwire serve"],
  run: async () => {
    const config = readConfig("serve");
    const log = openLog({ level: config.logLevel });
    const stopped = awaitSignal();
    let { port } = config;
    for (;;) {
      const service = await Service.open({ ...config, port }, log);
      process.stdout.write(`${JSON.stringify({ listening: service.url, version })}\n`);
      saveCompiledCode();
      // A service that starts again is found where it was.
      port = Number(new URL(service.url).port);
      const failure = await Promise.race([stopped, service.failed]);
      await service.close();
      if (failure === null) return exitCodes.done;
      if (failure instanceof RepairOrderedError) continue;
      process.stderr.write(`oddwire: indexing has stopped, start again: ${failure.message}\n`);
      return exitCodes.tryAgain;
    }
  },
};
