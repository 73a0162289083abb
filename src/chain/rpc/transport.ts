import type { BlockRef } from "../raw-log.ts";

/** A JSON-RPC request. Its calls have ids from `firstId` on. */
export type Outgoing = { readonly body: string; readonly firstId: number };

/** The answer as `parse-body.ts` parses it, not checked yet, and its decompressed size. */
export type Incoming = { readonly value: unknown; readonly bytes: number };

/** The connection to one endpoint. */
export type Transport = {
  /** Rejects with an `EndpointError`, or with the reason of `signal` once that is aborted. */
  exchange(outgoing: Outgoing, signal: AbortSignal): Promise<Incoming>;
  /** Whether the endpoint announces new heads now. */
  readonly isAnnouncing: boolean;
  /** Closes a connection that seems dead. The next exchange opens a new one. */
  replace(): void;
  close(): void;
};

/** Called for every head that an endpoint announces; a hint, never evidence. */
export type OnHead = (head: BlockRef) => void;

/** Called when the endpoint closes a connection that has answered, with the reason. */
export type OnLost = (reason: string) => void;

/** Opens the transport of an endpoint. `onHead` can be called before the first exchange. */
export type OpenTransport = (url: URL, onHead: OnHead, onLost: OnLost) => Transport;
