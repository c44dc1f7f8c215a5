/**
 * The fates of the server's last packets, by sequence number: the strip of the lagometer.
 *
 * The server numbers its packets consecutively, so a gap is a missing packet. It is `lost` until it arrives after all;
 * then it is `late`. No timer is involved: a reader sees what is known now.
 */

/** How many numbers are remembered. A power of two. */
export const FATES_REMEMBERED = 256

/** Fates of a packet. */
export const FATE = { unknown: 0, received: 1, late: 2, lost: 3 } as const

export class PacketFates {
  /** The highest number that arrived; 0 before the first. */
  newest = 0
  received = 0
  /** Arrived, but after a later one. */
  late = 0
  /** Not arrived, though later ones have. */
  lost = 0
  readonly #fates = new Uint8Array(FATES_REMEMBERED)
  readonly #sizes = new Uint16Array(FATES_REMEMBERED)

  /** A packet arrived. Packets before the first one that was seen are not counted. */
  note(sequence: number, sizeBytes: number): void {
    if (this.newest === 0) this.newest = sequence - 1
    if (sequence > this.newest) {
      const gap = Math.min(sequence - this.newest - 1, FATES_REMEMBERED)
      for (let missing = sequence - gap; missing < sequence; missing++) this.#set(missing, FATE.lost, 0)
      this.lost += sequence - this.newest - 1
      this.newest = sequence
      this.#set(sequence, FATE.received, sizeBytes)
    } else if (sequence > this.newest - FATES_REMEMBERED) {
      if (this.fateOf(sequence) !== FATE.lost) return
      this.lost--
      this.late++
      this.#set(sequence, FATE.late, sizeBytes)
    }
    this.received++
  }

  fateOf(sequence: number): number {
    const isKnown = sequence > 0 && sequence > this.newest - FATES_REMEMBERED && sequence <= this.newest
    return isKnown ? this.#fates[sequence & (FATES_REMEMBERED - 1)] : FATE.unknown
  }

  sizeOf(sequence: number): number {
    return this.#sizes[sequence & (FATES_REMEMBERED - 1)]
  }

  /** The share of the last packets that is missing, 0 to 1. */
  get lossShare(): number {
    let known = 0
    let lost = 0
    for (let at = 0; at < FATES_REMEMBERED; at++) {
      if (this.#fates[at] !== FATE.unknown) known++
      if (this.#fates[at] === FATE.lost) lost++
    }
    return known === 0 ? 0 : lost / known
  }

  #set(sequence: number, fate: number, sizeBytes: number): void {
    this.#fates[sequence & (FATES_REMEMBERED - 1)] = fate
    this.#sizes[sequence & (FATES_REMEMBERED - 1)] = sizeBytes
  }
}
