/**
 * Bytes of unauthenticated clients over WebTransport: header blocks, and bytes on streams of HTTP/3.
 */

import { Http3Session } from '../../packages/tickwire/src/node/webtransport-http3.ts'
import { decodeFields } from '../../packages/tickwire/src/node/webtransport-qpack.ts'
import type { FuzzTarget } from './target.ts'

const ascii = (text: string): number[] => [...Buffer.from(text)]
/** :method CONNECT, :scheme https, :authority, :path, :protocol, as Chromium writes them but without Huffman code. */
const BLOCK = [
  0, 0, 0xcf, 0xd7, 0x50, 14, ...ascii('localhost:4000'), 0x51, 9, ...ascii('/tickwire'),
  0x27, 2, ...ascii(':protocol'), 12, ...ascii('webtransport'),
]
/** /tickwire in Huffman code. */
const CODED = [0, 0, 0x51, 0x87, 0x62, 0x49, 0xa4, 0xec, 0x0d, 0x60, 0x5f]

const qpack: FuzzTarget = {
  name: 'qpack',
  seeds: () => [Uint8Array.from(BLOCK), Uint8Array.from(CODED), Uint8Array.of(0, 0, 0xd9)],
  run(bytes) {
    const fields = decodeFields(bytes)
    let size = 0
    for (const [name, value] of fields ?? []) size += name.length + value.length
    // The shortest code has five bits.
    if (size > bytes.length * 2 + 200) throw new Error(`${bytes.length} bytes became ${size} characters`)
  },
}

const streams: FuzzTarget = {
  name: 'http3-streams',
  /** Input: pieces of streams as heads of two bytes (stream id and whether it is the last, length) and their bytes. */
  seeds: () => {
    const settings = [0, 4, 2, 0x33, 1]
    const request = [1, BLOCK.length, ...BLOCK]
    return [
      Uint8Array.from([2 << 1, settings.length, ...settings, 0, request.length, ...request, 1, 0]),
      Uint8Array.from([0, request.length, ...request, 2 << 1, settings.length, ...settings]),
      Uint8Array.from(Array.from({ length: 20 }, (_, index) => [(index * 4 + 2) << 1, 1, 0x40]).flat()),
    ]
  },
  run(bytes) {
    let opened = 0
    let ended = 0
    let hasAborted = false
    const http = new Http3Session(
      { sendStream: () => {}, abort: () => { hasAborted = true } },
      { path: '/tickwire', isAllowedOrigin: () => true }, () => opened++, () => ended++,
    )
    for (let at = 0; at + 1 < bytes.length && !hasAborted;) {
      const [head, length] = [bytes[at]!, bytes[at + 1]!]
      http.handleStream(head >> 1, bytes.subarray(at + 2, at + 2 + length), (head & 1) === 1)
      at += 2 + length
    }
    if (opened > 1) throw new Error('two sessions on one connection')
    if (ended > 0 && opened === 0) throw new Error('a session that never began has ended')
  },
}

export const targets: readonly FuzzTarget[] = [qpack, streams]
