/**
 * Writes output that is usually short and seldom long: the writer's buffer grows when it is too small, up to a limit,
 * and is kept.
 */

import type { BitWriter } from './bit-writer.ts'

const GROWTH = 8

/**
 * Runs `write` on the writer from its start. Returns the bytes written, valid until the next call; undefined when there
 * are more than `bytesMax`.
 */
export function writeWithin(
  writer: BitWriter,
  bytesMax: number,
  write: (writer: BitWriter) => void,
): Uint8Array | undefined {
  for (;;) {
    writer.reset(writer.bytes, 0, Math.min(bytesMax, writer.bytes.length))
    write(writer)
    if (!writer.failed) return writer.bytes.subarray(0, writer.finish())
    if (writer.bytes.length >= bytesMax) return undefined
    writer.reset(new Uint8Array(Math.min(bytesMax, GROWTH * writer.bytes.length)))
  }
}
