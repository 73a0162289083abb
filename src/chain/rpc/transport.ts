import type { BlockRef } from "../raw-log.ts";

/** One JSON-RPC payload on its way; its calls bear ids from `firstId` on. */
export type Outgoing = { readonly body: string; readonly firstId: number };

/** What came back, as `parse-body.ts` reads it, but not yet believed. */
export type Incoming = { readonly value: unknown; readonly bytes: number };

/** The wire to one endpoint. */
export type Transport = {
  /** Rejects with an `EndpointError`, or with the reason of `signal` once that is aborted. */
  exchange(outgoing: Outgoing, signal: AbortSignal): Promise<Incoming>;
  /** Whether the endpoint announces new heads at present. */
  readonly isAnnouncing: boolean;
  /** Gives up the connection, as it seems to be dead; the next exchange makes a new one. */
  replace(): void;
  close(): void;
};

/** Called for every head that an endpoint announces; a hint, never evidence. */
export type OnHead = (head: BlockRef) => void;

/** How an endpoint gets its wire; it may call back before anything was exchanged. */
export type OpenTransport = (url: URL, onHead: OnHead) => Transport;
