/** Bytes that are read here and there: a file, or memory. */
export interface ByteSource {
  readonly size: number
  /** `length` bytes from `offset` on, or fewer when there are no more. Not to be written to. */
  read(offset: number, length: number): Uint8Array
}

/** Bytes in memory. */
export function sourceOf(bytes: Uint8Array): ByteSource {
  return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) }
}
