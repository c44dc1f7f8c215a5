/**
 * Names for the frames of a span in their order: two receivers who were sent the same frames have the same name for them.
 *
 *   chain    of (chain before it, frame)        found in a table, or a new number; the oldest are forgotten
 *
 * Who was sent the same before another forgot it may have another name: then each does for himself what one could have done. Never the
 * same name for other frames.
 */

/** Before the first frame. */
export const NO_CHAIN = 0
/** One of the frames is of his own. */
export const OWN_CHAIN = -1

// Constants of this module, for speed: see schema/leaf-table.ts.
const OWN = OWN_CHAIN
const PLACES = 256
const PLACE_BITS = 8
/** With two bits more it is still a small integer. */
const NUMBER_MAX = 0x0fff_ffff

export class FrameChains {
  /** By place: the chain, the one before it, and the frame. */
  readonly #chains = new Int32Array(PLACES)
  readonly #befores = new Int32Array(PLACES)
  readonly #frames = new Int32Array(PLACES)
  #number = 0

  /** The chain that a frame makes of another; 0 is a frame of his own. @hot */
  follow(chain: number, frame: number): number {
    if (chain === OWN || frame === 0) return OWN
    const place = (Math.imul(chain, 0x9e37_79b1) ^ Math.imul(frame, 0x85eb_ca6b)) >>> 32 - PLACE_BITS
    if (this.#chains[place] !== 0 && this.#befores[place] === chain && this.#frames[place] === frame) return this.#chains[place]
    this.#number = this.#number === NUMBER_MAX ? 1 : this.#number + 1
    this.#befores[place] = chain
    this.#frames[place] = frame
    this.#chains[place] = this.#number
    return this.#number
  }
}
