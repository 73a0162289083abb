import { hasCredentials, isUrl, setting } from "./setting.ts";

/** The settings of the servers that a process or a cluster uses. */
export const serverSettings = {
  clickhouseUrl: setting<string | null>({
    variable: "ODDWIRE_CLICKHOUSE_URL",
    description: "A ClickHouse server to store facts on, instead of the embedded engine",
    form: "an http or https URL without a user name, path or query",
    fallback: null,
    // The client would let a user name or a query take precedence over the other settings.
    read: (text) => (isUrl(text, /^https?:$/) && isOnlyOrigin(text) ? text : null),
    show: (value) => (value === null ? "" : new URL(value).host),
  }),
  clickhouseDatabase: setting({
    variable: "ODDWIRE_CLICKHOUSE_DATABASE",
    description: "The database on that server; one for each chain and list of contracts",
    form: "a name of letters, digits and underscores",
    fallback: "oddwire",
    read: (text) => (/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(text) ? text : null),
  }),
  clickhouseCluster: setting<string | null>({
    variable: "ODDWIRE_CLICKHOUSE_CLUSTER",
    description:
      "The server's cluster, by its name in remote_servers; tables are then replicated and sharded",
    form: "a name of letters, digits and underscores",
    fallback: null,
    read: (text) => (/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(text) ? text : null),
  }),
  clickhouseUser: setting({
    variable: "ODDWIRE_CLICKHOUSE_USER",
    description: "The user on that server, who may create tables in the database, read and insert",
    form: "a name",
    fallback: "default",
    read: (text) => text,
  }),
  clickhousePassword: setting<string | null>({
    variable: "ODDWIRE_CLICKHOUSE_PASSWORD",
    description: "The password of that user",
    form: "a text",
    fallback: null,
    read: (text) => text,
    secret: true,
  }),
  redisUrl: setting<string | null>({
    variable: "ODDWIRE_REDIS_URL",
    description: "The Redis that all nodes of a cluster share; required by `index` and `api`",
    form: "a redis or rediss URL, with user and password if Redis asks for them",
    fallback: null,
    read: (text) => (isUrl(text, /^rediss?:$/) ? text : null),
    secret: true,
  }),
  limitsWithoutRedis: setting<"share" | "refuse">({
    variable: "ODDWIRE_LIMITS_WITHOUT_REDIS",
    description:
      "Without Redis a serving node admits its share of each limit, or refuses requests with a key",
    form: "share or refuse",
    fallback: "share",
    read: (text) => (text === "share" || text === "refuse" ? text : null),
  }),
};

/** Whether a URL names a host and port and nothing else. */
function isOnlyOrigin(text: string): boolean {
  const { pathname, search, hash } = new URL(text);
  return `${pathname}${search}${hash}` === "/" && !hasCredentials(text);
}
