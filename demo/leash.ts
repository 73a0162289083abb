/**
 * Runs a command that must not outlive the process that started this one: `node leash.ts <command> <argument>...`. It
 * is interrupted when the standard input ends, which also happens when the other process is killed. It is killed if it
 * does not stop within two minutes. The exit code is 0 if it stopped in order.
 */
import { spawn } from "node:child_process";

/** On a busy machine a chain needs some time to write its state. */
const stopMsMax = 120_000;

const [command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
let isRequested = false;
child.once("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
child.once("exit", (code, signal) => {
  process.exit(isRequested && signal !== "SIGKILL" ? 0 : (code ?? 1) || 1);
});
process.stdin.resume().once("close", () => {
  isRequested = true;
  child.kill("SIGINT");
  setTimeout(() => child.kill("SIGKILL"), stopMsMax);
});
