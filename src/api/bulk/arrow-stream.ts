/** Streams of Arrow IPC: a message with the schema, messages with batches of rows, and an end. */

/** The end-of-stream message: a continuation of four 0xFF bytes and a length of 0. */
export const endOfStream: Uint8Array = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/** Returns the schema message of a stream. */
export function getSchema(stream: Uint8Array): Uint8Array {
  return stream.subarray(0, toSchemaEnd(stream));
}

/** Returns the batches of a stream, which can follow those of any stream with the same schema. */
export function getBatches(stream: Uint8Array): Uint8Array {
  return stream.subarray(toSchemaEnd(stream), stream.length - endOfStream.length);
}

/** Returns the length of the schema message: FFFFFFFF, the length of the metadata, the metadata and no body. */
function toSchemaEnd({ buffer, byteOffset }: Uint8Array): number {
  return 8 + new DataView(buffer, byteOffset).getInt32(4, true);
}
