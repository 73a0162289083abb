#!/usr/bin/env node
/**
 * Where the process begins. Everything else is loaded from here, so that it can be told before where
 * compiled code is kept.
 */
import { keepCompiledCode } from "./compiled-code.ts";

const words = process.argv.slice(2);
if (words[0] === "serve") keepCompiledCode();
const { runCli } = await import("./cli/run-cli.ts");
process.exitCode = await runCli(words);
