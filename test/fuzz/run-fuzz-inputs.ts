/**
 * The inputs a fuzz target is fed, as an endless sequence that one seed determines.
 *
 * First the valid inputs: every seed input. Then every truncation of every seed input. Then, without end, mutated seeds
 * and sometimes random bytes. It knows nothing of the format under test, and nothing of the engine: a fuzzer that
 * shares code with what it attacks shares its mistakes.
 */

/** Inputs longer than this are cut: no datagram is longer, and a long input only hides which byte mattered. */
export const INPUT_BYTES_MAX = 4096

/** Values at which decoders branch: ends of ranges, signs, varint continuation, lengths that are too large. */
const INTERESTING_BYTES = [0x00, 0x01, 0x0f, 0x10, 0x3f, 0x40, 0x7f, 0x80, 0x81, 0xc0, 0xfe, 0xff]
const INTERESTING_WORDS = [0, 1, 0x7f, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff]

/** A whole number in 0 .. below - 1. */
type Dice = (below: number) => number

/** Every input for one target, in order. Consume as many as time allows. */
export function* fuzzInputs(seed: number, seeds: readonly Uint8Array[]): Generator<Uint8Array, never> {
  for (const bytes of seeds) yield cut(bytes)
  for (const bytes of seeds) {
    for (let length = 0; length < Math.min(bytes.length, INPUT_BYTES_MAX); length++) yield bytes.slice(0, length)
  }
  const dice = makeDice(seed)
  for (;;) {
    if (seeds.length === 0 || dice(8) === 0) yield noise(dice)
    else yield cut(mutated(dice, seeds))
  }
}

/** How many inputs come before the random ones: the shortest useful run. */
export function certainInputs(seeds: readonly Uint8Array[]): number {
  return seeds.reduce((count, bytes) => count + 1 + Math.min(bytes.length, INPUT_BYTES_MAX), 0)
}

function mutated(dice: Dice, seeds: readonly Uint8Array[]): Uint8Array {
  let bytes = pick(dice, seeds)
  for (let left = 1 + dice(4); left > 0; left--) bytes = pick(dice, MUTATIONS)(dice, bytes, seeds)
  return bytes
}

/** Each returns new bytes; none writes into its argument. */
const MUTATIONS: readonly ((dice: Dice, bytes: Uint8Array, seeds: readonly Uint8Array[]) => Uint8Array)[] = [
  function flipBit(dice, bytes) {
    return edited(bytes, (copy) => { copy[dice(copy.length)]! ^= 1 << dice(8) })
  },
  function setByte(dice, bytes) {
    return edited(bytes, (copy) => { copy[dice(copy.length)] = dice(256) })
  },
  function setInterestingByte(dice, bytes) {
    return edited(bytes, (copy) => { copy[dice(copy.length)] = pick(dice, INTERESTING_BYTES) })
  },
  function setInterestingWord(dice, bytes) {
    return edited(bytes, (copy) => {
      const word = pick(dice, INTERESTING_WORDS)
      const size = pick(dice, [2, 4])
      const isLittleEndian = dice(2) === 0
      const at = dice(copy.length)
      for (let i = 0; i < size && at + i < copy.length; i++) {
        copy[at + i] = word >>> (8 * (isLittleEndian ? i : size - 1 - i))
      }
    })
  },
  function nudgeByte(dice, bytes) {
    return edited(bytes, (copy) => { copy[dice(copy.length)]! += pick(dice, [1, 255]) })
  },
  function insertBytes(dice, bytes) {
    const at = dice(bytes.length + 1)
    return joined(bytes.subarray(0, at), noise(dice, 1 + dice(8)), bytes.subarray(at))
  },
  function deleteBytes(dice, bytes) {
    const at = dice(bytes.length + 1)
    return joined(bytes.subarray(0, at), bytes.subarray(at + 1 + dice(8)))
  },
  function truncate(dice, bytes) {
    return bytes.slice(0, dice(bytes.length + 1))
  },
  function splice(dice, bytes, seeds) {
    const other = pick(dice, seeds)
    return joined(bytes.subarray(0, dice(bytes.length + 1)), other.subarray(dice(other.length + 1)))
  },
  function repeatRange(dice, bytes) {
    const from = dice(bytes.length + 1)
    const range = bytes.subarray(from, from + 1 + dice(16))
    return joined(bytes.subarray(0, from), ...Array.from({ length: 2 + dice(6) }, () => range), bytes.subarray(from))
  },
]

function edited(bytes: Uint8Array, edit: (copy: Uint8Array) => void): Uint8Array {
  const copy = bytes.slice()
  if (copy.length > 0) edit(copy)
  return copy
}

function noise(dice: Dice, length: number = dice(4) === 0 ? dice(1500) : dice(48)): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at++) bytes[at] = dice(256)
  return bytes
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function cut(bytes: Uint8Array): Uint8Array {
  return bytes.slice(0, INPUT_BYTES_MAX)
}

function pick<T>(dice: Dice, items: readonly T[]): T {
  return items[dice(items.length)]!
}

/** mulberry32: 32 bits of state, good enough for this, and the same on every machine. */
function makeDice(seed: number): Dice {
  let state = seed | 0
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000) * below)
  }
}
