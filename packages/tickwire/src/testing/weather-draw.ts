/**
 * Draws weather from a seed: a random subset of all faults, each with a random intensity.
 *
 * Many failures occur only when some other fault does *not*, so every seed leaves most faults out. Mild weather is
 * drawn more often than wild, or no connection would live long enough to fail in interesting ways.
 *
 * Invariant: each fault is drawn from the seed and its own name alone. Leaving one out changes no other.
 *
 * Corruption is left out by default: unauthenticated packets do not survive it, and are not meant to.
 */

import { exp, log } from '../core/base/math.ts'
import { KeyedPrng } from '../core/base/keyed-prng.ts'
import { type Dial, FAULTS, FAULT_NAMES, type FaultName, type NetWeather } from './weather.ts'

/** Options of a draw. */
export interface DrawOptions {
  /** Faults that must not occur. Default `['corruption']`: pass `[]` if packets are authenticated. */
  readonly without?: readonly FaultName[]
}

/** Range of the probability that a fault is part of the weather; the seed chooses within it. */
const PART_MIN = 0.1
const PART_MAX = 0.6

/** The weather of a seed, a whole number below 2^53. */
export function drawWeather(seed: number, options: DrawOptions = {}): NetWeather {
  const { without = ['corruption'] } = options
  const chance = new KeyedPrng(seed)
  const part = PART_MIN + (PART_MAX - PART_MIN) * chance.at(0, 0).nextFloat()
  const drawn = FAULT_NAMES.flatMap((name, index) => {
    chance.at(1, index)
    if (chance.nextFloat() >= part || without.includes(name)) return []
    const dials = Object.entries(FAULTS[name].dials).map(([dial, range]) => {
      const luck = chance.nextFloat()
      return [dial, valueAt(range, luck * luck)] as const
    })
    return [[name, Object.fromEntries(dials)] as const]
  })
  return Object.fromEntries(drawn) as NetWeather
}

/** The value of a dial at an intensity: 0 is mild, 1 is wild. Rounded to three digits for readability. */
export function valueAt({ mild, wild, isLog, isWhole }: Dial, intensity: number): number {
  const value = isLog ? mild * exp(log(wild / mild) * intensity) : mild + (wild - mild) * intensity
  return isWhole ? Math.round(value) : Number(value.toPrecision(3))
}

/** The intensity of a value; above 1 for values worse than wild. */
export function intensityOf({ mild, wild, isLog }: Dial, value: number): number {
  if (isLog) return value > 0 ? log(value / mild) / log(wild / mild) : 1
  return (value - mild) / (wild - mild)
}
