import { after } from "node:test";
import { testList } from "../support/list-cases.ts";
import { tradeFilters } from "../support/naive-filters.ts";
import { DataServer } from "../support/open-data-server.ts";

const server = await DataServer.open();
after(() => server.close());

testList({ server, path: "/v1/trades", filters: tradeFilters });
