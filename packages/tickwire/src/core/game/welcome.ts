/** What the authority tells a player as he comes in: his number and the seed of the match's dice, 32 bits each, low byte first. */

import type { PeerId } from '../base/time.ts'

const WELCOME_BYTES = 8

export interface Welcome {
  /** 0 when the bytes made no sense. */
  readonly peer: PeerId
  readonly seed: number
}

export function encodeWelcome({ peer, seed }: Welcome): Uint8Array {
  return new Uint8Array([peer, peer >>> 8, peer >>> 16, peer >>> 24, seed, seed >>> 8, seed >>> 16, seed >>> 24])
}

export function decodeWelcome(bytes: Uint8Array): Welcome {
  if (bytes.length !== WELCOME_BYTES) return { peer: 0, seed: 0 }
  const word = (at: number): number => (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0
  return { peer: word(0), seed: word(4) }
}
