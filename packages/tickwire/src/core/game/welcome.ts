/** What the authority tells a player as he comes in: four bytes, his number, low byte first. */

import type { PeerId } from '../base/time.ts'

const WELCOME_BYTES = 4

export function encodeWelcome(peer: PeerId): Uint8Array {
  return new Uint8Array([peer, peer >>> 8, peer >>> 16, peer >>> 24])
}

/** The player's number, or 0 when the bytes make no sense. */
export function decodeWelcome(bytes: Uint8Array): PeerId {
  if (bytes.length !== WELCOME_BYTES) return 0
  return (bytes[0] | (bytes[1] << 8) | (bytes[2] << 16) | (bytes[3] << 24)) >>> 0
}
