/** Where the tables are made: a cluster has them on every server, under the name that its configuration has. */
export type SchemaTarget =
  | { readonly kind: "embedded" }
  | { readonly kind: "server"; readonly database: string }
  | { readonly kind: "cluster"; readonly database: string; readonly cluster: string };

/** The kinds of places that facts are kept in. */
export type StoreKind = SchemaTarget["kind"];

/** Has a statement carried out on every server of a cluster. */
export function onCluster(target: SchemaTarget): string {
  return target.kind === "cluster" ? ` ON CLUSTER '${target.cluster}'` : "";
}

/** The database of the tables behind those that are sharded: each server has rows of its own in it. */
export function localDatabase(database: string): string {
  return `${database}_local`;
}

/** Where the tables of a database on a server are. */
export function targetOf(place: {
  readonly database: string;
  readonly cluster: string | null;
}): SchemaTarget {
  const { database, cluster } = place;
  return cluster === null ? { kind: "server", database } : { kind: "cluster", database, cluster };
}
