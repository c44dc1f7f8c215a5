/**
 * Bytes with random access: a file, or memory.
 */
export interface ByteSource {
  /** The number of bytes. */
  readonly size: number
  /** `length` bytes from `offset` on, or fewer at the end. The caller must not write to them. */
  read(offset: number, length: number): Uint8Array
}

/** Bytes in memory. */
export function sourceOf(bytes: Uint8Array): ByteSource {
  return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) }
}
