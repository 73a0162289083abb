import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LakeSource } from "./import-lake.ts";
import { LakeError } from "./lake-error.ts";

/** Opens a lake in a folder. Links are not followed: they could lead to files outside of it. */
export function openFolderLake(folder: string): LakeSource {
  return { name: folder, read: (path, bytesMax) => readFolderFile(folder, path, bytesMax) };
}

async function* readFolderFile(
  folder: string,
  path: string,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const parents = path.split("/").slice(0, -1);
  for (const depth of parents.keys()) {
    const parent = join(folder, ...parents.slice(0, depth + 1));
    const found = await lstat(parent).catch(() => null);
    if (found?.isSymbolicLink())
      throw new LakeError(`${parent} is a symbolic link, which is not followed`);
  }
  // Opening a named pipe would wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(join(folder, path), flags).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") throw new LakeError(`${folder} has no ${path}`);
    if (thrown.code === "ENOTDIR")
      throw new LakeError(`${dirname(join(folder, path))} is not a folder`);
    if (thrown.code === "ELOOP") {
      throw new LakeError(`${join(folder, path)} is a symbolic link, which is not followed`);
    }
    throw new LakeError(`${join(folder, path)} cannot be read: ${thrown.message}`);
  });
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new LakeError(`${join(folder, path)} is not a file`);
    if (found.size > bytesMax) {
      throw new LakeError(
        `${join(folder, path)} has more than ${bytesMax} bytes, the most it may have`,
      );
    }
    // It can grow meanwhile.
    for await (const piece of file.createReadStream({ autoClose: false, end: bytesMax }))
      yield piece as Buffer;
  } finally {
    await file.close();
  }
}
