/** Where tables are created: in a cluster on every server. `cluster` is its name in the servers' configuration. */
export type SchemaTarget =
  | { readonly kind: "embedded" }
  | { readonly kind: "server"; readonly database: string }
  | { readonly kind: "cluster"; readonly database: string; readonly cluster: string };

/** The kinds of places that store facts. */
export type StoreKind = SchemaTarget["kind"];

/** Returns the clause that runs a statement on every server of a cluster; empty outside of one. */
export function onCluster(target: SchemaTarget): string {
  return target.kind === "cluster" ? ` ON CLUSTER '${target.cluster}'` : "";
}

/** Returns the database of the local tables behind sharded ones. On each server they hold the rows of its shard. */
export function localDatabase(database: string): string {
  return `${database}_local`;
}

/** Returns the schema target of a database on a server or cluster. */
export function getTarget({
  database,
  cluster,
}: {
  readonly database: string;
  readonly cluster: string | null;
}): SchemaTarget {
  return cluster === null ? { kind: "server", database } : { kind: "cluster", database, cluster };
}
