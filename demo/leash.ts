/**
 * Runs a command that must not outlive who started this: `node leash.ts <command> <argument>...`.
 * It stops when our standard input ends, which also happens when the other side is killed,
 * and killed when it does not. The exit code is 0 when it stopped in order.
 */
import { spawn } from "node:child_process";

/** On a busy machine a chain needs some time to write its state. */
const stopMsMax = 120_000;

const [command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
let isAsked = false;
child.once("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
child.once("exit", (code, signal) => {
  process.exit(isAsked && signal !== "SIGKILL" ? 0 : (code ?? 1) || 1);
});
process.stdin.resume().once("close", () => {
  isAsked = true;
  child.kill("SIGINT");
  setTimeout(() => child.kill("SIGKILL"), stopMsMax);
});
