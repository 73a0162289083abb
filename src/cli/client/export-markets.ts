import { existsSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { OddwireClient } from "../../../client/src/client.ts";
import { AppError } from "../../base/errors.ts";
import { callService } from "./call-service.ts";

const pageRows = 100;

/** Writes all markets, oldest first, as one NDJSON file, which has its name once it is whole. Throws `AppError`. */
export async function exportMarkets(options: {
  readonly url: string;
  readonly key: string;
  readonly out: string;
  readonly onRows: (count: number) => void;
}): Promise<void> {
  const { url, key, out, onRows } = options;
  if (existsSync(out)) throw new AppError("CONFLICT", { publicMessage: `${out} exists already` });
  const part = `${out}.part`;
  const file = await open(part, "w").catch((cause: unknown) => {
    throw new AppError("CONFLICT", { publicMessage: `${part} cannot be written`, cause });
  });
  try {
    await callService(async () => {
      const list = new OddwireClient({ url, key }).markets({
        status: "all",
        sort: "created_at",
        order: "asc",
        limit: pageRows,
      });
      for await (const { data } of list.pages()) {
        await file.write(data.map((row) => `${JSON.stringify(row)}\n`).join(""));
        onRows(data.length);
      }
      await file.sync();
    });
  } finally {
    await file.close();
  }
  await rename(part, out);
}
