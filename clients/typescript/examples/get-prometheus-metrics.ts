/** GET /v1/metrics/prometheus: the same for Prometheus. */
import { client } from "./connect.ts";

console.log(await client.prometheusMetrics());
