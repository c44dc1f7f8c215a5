/**
 * A reader of packed texts, made from docs/wire/SNAPSHOTS.md alone; imports nothing from src. Plain numbers instead of
 * tables and typed arrays, and every state kept in a Map: slow, and as the page describes it.
 */

const CURVE = [11, 18, 30, 49, 81, 133, 219, 360, 589, 961, 1554, 2486, 3906, 5978, 8813, 12371, 16384]
const WORD = 2 ** 32

/** Modulo 2^32. */
const word = (value: bigint): number => Number(BigInt.asUintN(32, value))
const times = (a: number, b: number): number => word(BigInt(a) * BigInt(b))
const within = (value: number): number => Math.min(2047, Math.max(-2047, value))

/** The probability of a guess. */
function chanceOf(guess: number): number {
  if (guess > 0) return 2 ** 15 - chanceOf(-guess)
  const [step, rest] = [Math.floor((2048 + guess) / 128), (2048 + guess) % 128]
  return CURVE[step]! + (rest === 0 ? 0 : Math.floor(((CURVE[step + 1]! - CURVE[step]!) * rest) / 128))
}

const guesses = new Map<number, number>()

/** The least guess whose probability is at least 8 k. */
function guessOf(k: number): number {
  if (!guesses.has(k)) {
    let guess = -2047
    while (guess < 2047 && chanceOf(guess) < 8 * k) guess++
    guesses.set(k, guess)
  }
  return guesses.get(k)!
}

/** The context: the memories of four lengths. */
function memoriesOf(bytes: readonly number[]): number[] {
  const back = (from: number): number =>
    [3, 2, 1, 0].reduce((sum, each) => sum * 256 + (bytes[bytes.length - 1 - from - each] ?? 0), 0)
  const [last, older] = [back(0), back(4)]
  return [
    2 ** 24 * (last % 256) + 1,
    2 ** 16 * (last % 65_536) + 2,
    last + 4,
    times(last, 0x2c1b3c6d) + 2 ** 16 * (older % 65_536) + 6,
  ].map((value) => {
    const product = times(value, 0x297a2d39)
    return word(BigInt(product) ^ BigInt(Math.floor(product / 2 ** 15)))
  })
}

/** The section's bits, by the probabilities of the model; `bytes` are the bytes of the section. */
class Section {
  code: number
  range = WORD - 1
  #at = 0
  /** The sum of all that was subtracted from the number: what a writer calls low. */
  low = 0n
  scale = 0
  readonly #bytes: readonly number[]

  constructor(bytes: readonly number[]) {
    this.#bytes = bytes
    this.code = [0, 0, 0, 0].reduce((sum) => sum * 256 + this.#next(), 0)
  }

  bit(chance: number): number {
    const bound = Math.floor(this.range / 2 ** 15) * (2 ** 15 - chance)
    const bit = this.code < bound ? 0 : 1
    if (bit === 1) {
      this.low += BigInt(bound)
      this.code -= bound
      this.range -= bound
    } else {
      this.range = bound
    }
    for (; this.range < 2 ** 24; this.scale++) {
      this.range *= 256
      this.low *= 256n
      this.code = this.code * 256 + this.#next()
    }
    return bit
  }

  /** [BITS27] Whether the bytes are those of the number of the last interval that has the fewest. */
  isShortest(): boolean {
    for (let size = 0; ; size++) {
      const unit = 256n ** BigInt(Math.max(0, 4 + this.scale - size))
      const number = ((this.low + unit - 1n) / unit) * unit
      if (number - this.low >= BigInt(this.range)) continue
      const hex = number.toString(16).padStart(2 * (4 + this.scale), '0').replace(/(00)+$/, '')
      return hex === Buffer.from(this.#bytes).toString('hex')
    }
  }

  #next(): number {
    return this.#bytes[this.#at++] ?? 0
  }
}

/** The text in the bytes; undefined when they are invalid. */
export function unpackText(packed: readonly number[]): string | undefined {
  const end = packed.findIndex((byte) => byte < 128)
  const size = packed.slice(0, end + 1).reduce((sum, byte, at) => sum + (byte % 128) * 128 ** at, 0)
  if (end < 0 || (end > 0 && packed[end] === 0) || size > 1_048_576) return undefined
  const section = new Section(packed.slice(end + 1))
  if (section.code === WORD - 1) return undefined
  const cells = new Map<number, { chance: number; sights: number }>()
  const weights = new Map<number, number>()
  const bytes: number[] = []
  while (bytes.length < size) {
    const memories = memoriesOf(bytes)
    let node = 1
    while (node < 256) {
      const places = memories.map((memory) => Math.floor(times(memory + times(node, 0x9e3779b1), 0x85ebca6b) / 2 ** 14))
      const said = places.map((place) => guessOf(Math.floor((cells.get(place)?.chance ?? 32_768) / 16)))
      const sum = said.reduce((all, guess, order) => all + guess * (weights.get(4 * node + order) ?? 26_000), 0)
      const chance = chanceOf(within(Math.floor(sum / 65_536)))
      const bit = section.bit(chance)
      for (const [order, place] of places.entries()) {
        const weight =
          (weights.get(4 * node + order) ?? 26_000) + Math.floor((said[order]! * (2 ** 15 * bit - chance)) / 2 ** 13)
        weights.set(4 * node + order, Number(BigInt.asIntN(32, BigInt(weight))))
        const { chance: before, sights } = cells.get(place) ?? { chance: 32_768, sights: 0 }
        cells.set(place, {
          chance: before + Math.trunc((2 * (65_535 * bit - before)) / (2 * sights + 3)),
          sights: Math.min(30, sights + 1),
        })
      }
      node = 2 * node + bit
    }
    bytes.push(node - 256)
  }
  if (!section.isShortest()) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes))
  } catch {
    return undefined
  }
}
