/** GET /v1/lake: the days of the history as Parquet files; needs a key of scope admin. */
import { client } from "./connect.ts";

const { created_by: program, slices } = await client.lake();
console.log(`written by ${program}`);
for (const { date, files } of slices) {
  for (const { path, rows, bytes } of Object.values(files))
    console.log(`${date}: ${path} has ${rows} rows in ${bytes} bytes`);
}
