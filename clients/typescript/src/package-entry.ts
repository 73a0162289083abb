/** The exports of the `oddwire-client` package. */
export type * from "./api.ts";
export type { Backoff } from "./backoff.ts";
export { OddwireClient } from "./client.ts";
export type { ConnectionOptions } from "./connection.ts";
export type { EventStream, StreamOptions, StreamState } from "./event-stream.ts";
export type { FileFormat, ListFile } from "./list-file.ts";
export type { LocalBook } from "./local-book.ts";
export { OddwireError } from "./oddwire-error.ts";
export type { Pages } from "./pages.ts";
export type * from "./stream-frames.ts";
