import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../base/config/config.ts";
import { checkKeptFile } from "../../base/config/make-data-directory.ts";

/**
 * Reads the secret that keys are hashed with from the file `pepper` of the data directory. The first start creates it. It
 * is outside the database so that a stolen copy of the database alone is useless. A backup needs both.
 */
export function readPepper(dataDir: string): string {
  const path = join(dataDir, "pepper");
  checkKeptFile(path);
  if (!existsSync(path)) createPepper(path);
  const pepper = readFileSync(path, "utf8").trim();
  if (pepper.length < 32) throw new ConfigError([`${path} must hold at least 32 characters`]);
  return pepper;
}

/** Creates the file. Creating a link is atomic, so two first starts at the same time end with the same pepper. */
function createPepper(path: string): void {
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    writeFileSync(draft, randomBytes(32).toString("base64url"), { mode: 0o600, flush: true });
    linkSync(draft, path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  } finally {
    rmSync(draft, { force: true });
  }
}
