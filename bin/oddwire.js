#!/usr/bin/env node
// Starts the command line: of the checkout as it is written, of the package as it was built. It is plain
// JavaScript that old versions of Node can read, to refuse them in a sentence.
import { existsSync } from "node:fs";

const majorMin = 24;

if (Number(process.versions.node.split(".")[0]) < majorMin) {
  console.error(
    `oddwire needs Node.js ${majorMin} or newer, and this is ${process.version}: install it from https://nodejs.org`,
  );
  process.exitCode = 1;
} else {
  const source = new URL("../src/cli.ts", import.meta.url);
  await import((existsSync(source) ? source : new URL("../dist/cli.js", import.meta.url)).href);
}
