/**
 * Reduces a weather that makes a test fail to the smallest that still does.
 *
 * First, whole faults are dropped, one after the other, until none can be removed. Then each number is halved while the
 * test still fails. Then faults are dropped once more, since a mild fault may have become unnecessary.
 *
 * Invariants: the test fails in the returned weather, and passes if any one fault is removed from it. The same weather
 * and the same `fails` give the same result.
 */

import { FAULTS, FAULT_NAMES, type FaultName, type NetWeather, faultOf } from './weather.ts'
import { intensityOf, valueAt } from './weather-draw.ts'

/** Each halving costs one run of the test; after this many a number is close to mild. */
const HALVINGS_MAX = 6

/** The smallest weather that still fails. `fails` runs the test in a weather and must be a function of it. */
export function shrinkWeather(weather: NetWeather, fails: (weather: NetWeather) => boolean): NetWeather {
  const search = weatherShrinking(weather)
  let step = search.next()
  while (step.done !== true) step = search.next(fails(step.value))
  return step.value
}

/** The same search for asynchronous tests: yields what to try next, is sent whether it fails, returns the smallest. */
export function* weatherShrinking(weather: NetWeather): Generator<NetWeather, NetWeather, boolean> {
  return yield* dropFaults(yield* turnDown(yield* dropFaults(weather)))
}

function* dropFaults(weather: NetWeather): Generator<NetWeather, NetWeather, boolean> {
  let smallest = weather
  for (let hasDropped = true; hasDropped;) {
    hasDropped = false
    for (const name of FAULT_NAMES) {
      if (smallest[name] === undefined) continue
      const candidate = without(smallest, name)
      if (!(yield candidate)) continue
      smallest = candidate
      hasDropped = true
    }
  }
  return smallest
}

function* turnDown(weather: NetWeather): Generator<NetWeather, NetWeather, boolean> {
  let smallest = weather
  for (const name of FAULT_NAMES) {
    for (const [dial, range] of Object.entries(FAULTS[name].dials)) {
      for (let halving = 0; halving < HALVINGS_MAX; halving++) {
        const numbers = faultOf(smallest, name)
        if (numbers === undefined) break
        const value = numbers[dial] ?? range.mild
        // The last try sets the number to its mild value.
        const goal = halving === HALVINGS_MAX - 1 ? range.mild : valueAt(range, intensityOf(range, value) / 2)
        const candidate = { ...smallest, [name]: { ...numbers, [dial]: goal } }
        if (goal === value || !(yield candidate)) break
        smallest = candidate
      }
    }
  }
  return smallest
}

function without(weather: NetWeather, name: FaultName): NetWeather {
  return Object.fromEntries(Object.entries(weather).filter(([other]) => other !== name)) as NetWeather
}
