/**
 * One binary WebSocket frame of a server (RFC 6455, 5.2), in a buffer that is used again for the next one.
 *
 * ```
 * payload up to 125 bytes     82 | length 7                payload
 * longer                      82 | 7e | length 16          payload
 * ```
 */

import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'

const FINAL_BINARY = 0x82
const LENGTH_16 = 126
const HEAD_BYTES = 4
const SHORT_HEAD_BYTES = 2

/** The bytes of one frame at a time. */
export class FrameBuffer {
  readonly #bytes: Buffer = Buffer.allocUnsafe(HEAD_BYTES + DATAGRAM_BYTES_MAX)
  /** Views of the bytes, so that sending allocates none. Indexed by length. */
  readonly #views: (Buffer | undefined)[] = []

  /** The frame of a datagram of at most `DATAGRAM_BYTES_MAX` bytes. Valid until the next call. */
  fill(datagram: Uint8Array, length: number): Buffer {
    const bytes = this.#bytes
    const at = length < LENGTH_16 ? SHORT_HEAD_BYTES : HEAD_BYTES
    bytes[0] = FINAL_BINARY
    if (length < LENGTH_16) bytes[1] = length
    else {
      bytes[1] = LENGTH_16
      bytes[2] = length >>> 8
      bytes[3] = length
    }
    // Copying a whole packet buffer costs less than making a view of its front.
    bytes.set(datagram.length <= DATAGRAM_BYTES_MAX ? datagram : datagram.subarray(0, length), at)
    return (this.#views[at + length] ??= bytes.subarray(0, at + length))
  }
}
