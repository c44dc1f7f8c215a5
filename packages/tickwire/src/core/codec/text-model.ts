/**
 * Predicts a text bit by bit from the text before it: the model of `packed-text.ts`. Both sides run the same model over
 * the same bits, so nothing of it is transmitted.
 *
 *   last 1, 2, 4 and 6 bytes, each with ──▶ four probabilities ──▶ one guess each ──▶ weighted sum ──▶ P(1)
 *   the bits of this byte so far
 *
 * A guess is logarithmic: 256 times the logarithm of the odds of a 1. So guesses add up, and one certain guess counts
 * more than three uncertain ones. The weights learn which length of context is right, for each position in a byte.
 *
 * Invariant: whole numbers only, none past 2^53, so every engine computes the same. Every bit costs the same time, so
 * the time depends only on the size of the text.
 */

/**
 * The number of context lengths. Without the 6-byte one the arena's tables are 5 % longer; an additional 3-byte one
 * saves nothing.
 */
const ORDERS = 4
/**
 * The number of probabilities, as a shift: a quarter makes the arena's tables 5 % longer, four times as many save 2 %
 * and take 3 MB.
 */
const PROBABILITIES_SHIFT = 18
/** After this many bits the adaptation rate of a probability no longer falls. */
const SIGHTS_MAX = 30
/** The unit of weights, and the initial weight: 0.4. */
const WEIGHT_ONE = 65_536
const WEIGHT_FIRST = 26_000
const LEARN_SHIFT = 13
/** Guesses lie between -2047 and 2047. */
const GUESS_MAX = 2047
/**
 * Probabilities of a 1, of 2^15, for the guesses -2048, -1920, … 0: 2^15 / (1 + e^8), … 2^15 / 2. Above 0 they mirror.
 */
const CURVE: readonly number[] = [
  11, 18, 30, 49, 81, 133, 219, 360, 589, 961, 1554, 2486, 3906, 5978, 8813, 12_371, 16_384,
]

/** Indexed by guess + 2047: the probability. */
const CHANCES: Uint16Array = Uint16Array.from({ length: 2 * GUESS_MAX + 1 }, (_, index) => {
  const below = 2048 - Math.abs(index - GUESS_MAX)
  const [low, high] = [CURVE[below >> 7], CURVE[Math.min(16, (below >> 7) + 1)]]
  const chance = low + (((high - low) * (below & 127)) >> 7)
  return index > GUESS_MAX ? 32_768 - chance : chance
})

/** Indexed by probability, of 2^12: the least guess whose probability is not lower. */
const GUESSES: Int16Array = new Int16Array(4096)
for (let index = 0, guess = -GUESS_MAX; index < 4096; index++) {
  while (guess < GUESS_MAX && CHANCES[guess + GUESS_MAX] < 8 * index) guess++
  GUESSES[index] = guess
}

export class TextModel {
  /** Indexed by hash of the context: the probability of a 1, of 2^16, and how many bits the probability has seen. */
  readonly #probabilities = new Uint16Array(1 << PROBABILITIES_SHIFT).fill(32_768)
  readonly #sights = new Uint8Array(1 << PROBABILITIES_SHIFT)
  /** Indexed by the bits of this byte so far, four weights each. */
  readonly #weights = new Int32Array(256 * ORDERS).fill(WEIGHT_FIRST)
  readonly #memories = new Int32Array(ORDERS)
  readonly #places = new Int32Array(ORDERS)
  readonly #guesses = new Int32Array(ORDERS)
  /** A 1, followed by the bits of this byte so far. */
  #node = 1
  #chance = 0
  /** The last four bytes, and the four before. */
  #last = 0
  #older = 0

  constructor() {
    this.#remember()
  }

  /** The probability that the next bit is a 1, of 2^15: 11 to 32,757. @hot */
  chance(): number {
    const node = this.#node
    const step = Math.imul(node, 0x9e37_79b1)
    let sum = 0
    for (let order = 0; order < ORDERS; order++) {
      const place = Math.imul(this.#memories[order] + step, 0x85eb_ca6b) >>> (32 - PROBABILITIES_SHIFT)
      const guess = GUESSES[this.#probabilities[place] >> 4]
      this.#places[order] = place
      this.#guesses[order] = guess
      sum += this.#weights[node * ORDERS + order] * guess
    }
    const guess = Math.floor(sum / WEIGHT_ONE)
    this.#chance = CHANCES[(guess > GUESS_MAX ? GUESS_MAX : guess < -GUESS_MAX ? -GUESS_MAX : guess) + GUESS_MAX]
    return this.#chance
  }

  /** Adapts to the bit that `chance` predicted. @hot */
  learn(bit: number): void {
    const wrong = (bit << 15) - this.#chance
    for (let order = 0; order < ORDERS; order++) {
      this.#weights[this.#node * ORDERS + order] += (this.#guesses[order] * wrong) >> LEARN_SHIFT
      const place = this.#places[order]
      const sights = this.#sights[place]
      this.#probabilities[place] += Math.trunc((2 * (bit * 65_535 - this.#probabilities[place])) / (2 * sights + 3))
      if (sights < SIGHTS_MAX) this.#sights[place] = sights + 1
    }
    this.#node = (this.#node << 1) | bit
    if (this.#node < 256) return
    this.#older = (this.#older << 8) | (this.#last >>> 24)
    this.#last = (this.#last << 8) | (this.#node & 255)
    this.#node = 1
    this.#remember()
  }

  /** Computes the context hashes for the next byte. */
  #remember(): void {
    const last = this.#last
    this.#memories[0] = mixed((last << 24) + 1)
    this.#memories[1] = mixed((last << 16) + 2)
    this.#memories[2] = mixed(last + 4)
    this.#memories[3] = mixed(Math.imul(last, 0x2c1b_3c6d) + (this.#older << 16) + 6)
  }
}

function mixed(value: number): number {
  const product = Math.imul(value, 0x297a_2d39)
  return product ^ (product >>> 15)
}
