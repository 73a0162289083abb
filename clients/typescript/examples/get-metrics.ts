/** GET /v1/metrics: what is measured. */
import { client } from "./connect.ts";

const { indexer, process: running } = await client.metrics();
console.log(`block ${indexer.indexed_block} of ${indexer.head_block}, gaps: ${indexer.gaps}`);
console.log(`${running.memory.resident_memory_bytes} bytes of memory`);
