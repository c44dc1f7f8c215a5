/**
 * The weather of a simulated network: which faults there are, and how bad each is. Plain data: it can be printed,
 * stored with a failure and given back.
 *
 * ```ts
 * const weather: NetWeather = { latency: { ms: 80 }, loss: { rate: 0.05 }, bursts: { everyMs: 5000, lastsMs: 400, rate: 0.9 } }
 * ```
 *
 * A fault that is not named does not happen. Faults of a link work on every directed link by itself, faults of a node on
 * the node: its cable, its address, its clock.
 *
 * `everyMs` is the mean of the calm between two episodes (exponentially distributed; 0 means always), `lastsMs` the
 * longest an episode may be, with short ones more likely (an exponential cut off at `lastsMs`, mean 0.23 of it).
 * `FAULTS` says for each number what is mild and what is wild: drawing, describing and shrinking all read that table.
 */

import { ConfigError } from '../core/base/assert.ts'

/** What a simulated network does. Everything in it may be left out. */
export interface NetWeather {
  /** Link: every datagram takes this long. */
  readonly latency?: { readonly ms: number }
  /** Link: up to this much more, for each datagram anew, short more likely than long (as `lastsMs`). It overtakes. */
  readonly jitter?: { readonly ms: number }
  /** Link: each datagram is lost this often, whatever became of the others. */
  readonly loss?: { readonly rate: number }
  /** Link: loss that comes in bursts (Gilbert and Elliott): during an episode each datagram is lost at `rate`. */
  readonly bursts?: { readonly everyMs: number; readonly lastsMs: number; readonly rate: number }
  /** Node: during an episode nothing leaves or reaches it. */
  readonly outages?: { readonly everyMs: number; readonly lastsMs: number }
  /** Link: this often up to `copies` more arrive, each up to `lateMs` later. */
  readonly duplication?: { readonly rate: number; readonly copies: number; readonly lateMs: number }
  /** Link: this often one waits until up to `distance` later ones have gone by, but no longer than `holdMs`. */
  readonly reordering?: { readonly rate: number; readonly distance: number; readonly holdMs: number }
  /**
   * Link: this often bits or bytes change, the end is cut off or something is added; and at `spliceRate` an old
   * datagram arrives in place of this one, or its tail on this one's head. Only for traffic that is authenticated.
   */
  readonly corruption?: { readonly rate: number; readonly spliceRate: number }
  /** Link: a line of so many bits a second, behind a queue that holds `queueMs` of them; what finds it full is dropped. */
  readonly line?: { readonly bps: number; readonly queueMs: number }
  /** Link: somebody counts, delays nothing, and drops what exceeds `bps` once `burstBytes` are used up. */
  readonly policing?: { readonly bps: number; readonly burstBytes: number }
  /** Link: somebody else's upload fills the queue in front of us: the wait grows to `peakMs` in an episode, then drains. */
  readonly bloat?: { readonly everyMs: number; readonly lastsMs: number; readonly peakMs: number }
  /** Link: during an episode datagrams longer than `bytes` vanish, and nobody says so. */
  readonly mtu?: { readonly bytes: number; readonly everyMs: number; readonly lastsMs: number }
  /** Link: during an episode nothing passes in this direction; the other one has episodes of its own. */
  readonly partitions?: { readonly everyMs: number; readonly lastsMs: number }
  /** Node: it gets another port, or, at `addressRate`, another address; nothing that was sent to the old one arrives. */
  readonly rebinds?: { readonly everyMs: number; readonly addressRate: number }
  /** Node: its clock is up to this many millionths fast or slow. */
  readonly skew?: { readonly ppm: number }
  /** Node: its clock leaps ahead, by up to `ms`. */
  readonly jumps?: { readonly everyMs: number; readonly ms: number }
  /** Node: it does not run for a while, and its clock goes on. */
  readonly pauses?: { readonly everyMs: number; readonly lastsMs: number }
  /** Node: it does not run for a while, and its clock stands still. */
  readonly sleeps?: { readonly everyMs: number; readonly lastsMs: number }
  /** Node: its timers fire at multiples of this. Datagrams wake it at once. */
  readonly timers?: { readonly ms: number }
}

export type FaultName = keyof NetWeather

/** One number of a fault. */
export interface Dial {
  /** Where it does next to nothing. */
  readonly mild: number
  /** The worst that is drawn. A test may ask for worse, up to `most`. */
  readonly wild: number
  /** Halving means the geometric half: for numbers that span magnitudes. */
  readonly isLog: boolean
  readonly isWhole: boolean
  readonly least: number
  readonly most: number
}

/** A fault: where it works, and what can be turned. */
export interface Fault {
  readonly on: 'link' | 'node'
  readonly dials: Readonly<Record<string, Dial>>
}

const rate = (wild: number): Dial => ({ mild: 0, wild, isLog: false, isWhole: false, least: 0, most: 1 })
const ms = (mild: number, wild: number): Dial => ({ mild, wild, isLog: mild > 0, isWhole: false, least: 0, most: 3_600_000 })
const every = (mild: number, wild: number): Dial => ({ mild, wild, isLog: true, isWhole: false, least: 0, most: 86_400_000 })
const whole = (mild: number, wild: number, least: number, most: number): Dial => ({ mild, wild, isLog: mild > 0, isWhole: true, least, most })
/** From a good line to the slowest that is still sold, or throttled to. */
const bps: Dial = whole(10_000_000, 64_000, 8000, 10_000_000_000)

/** Every fault with the envelope that swarms draw from. */
export const FAULTS: { readonly [F in FaultName]-?: Fault } = {
  latency: { on: 'link', dials: { ms: ms(0, 2000) } },
  jitter: { on: 'link', dials: { ms: ms(0, 500) } },
  loss: { on: 'link', dials: { rate: rate(0.6) } },
  bursts: { on: 'link', dials: { everyMs: every(30_000, 500), lastsMs: ms(10, 2000), rate: rate(1) } },
  outages: { on: 'node', dials: { everyMs: every(60_000, 5000), lastsMs: ms(100, 30_000) } },
  duplication: { on: 'link', dials: { rate: rate(0.5), copies: whole(1, 5, 1, 16), lateMs: ms(0, 10_000) } },
  reordering: { on: 'link', dials: { rate: rate(0.5), distance: whole(1, 512, 1, 512), holdMs: ms(10, 10_000) } },
  corruption: { on: 'link', dials: { rate: rate(0.2), spliceRate: rate(0.05) } },
  line: { on: 'link', dials: { bps, queueMs: ms(50, 3000) } },
  policing: { on: 'link', dials: { bps, burstBytes: whole(64_000, 4000, 0, 1_000_000_000) } },
  bloat: { on: 'link', dials: { everyMs: every(60_000, 5000), lastsMs: ms(500, 10_000), peakMs: ms(20, 3000) } },
  // 1372 and 548 are the datagrams of 1400 and 576 byte paths.
  mtu: { on: 'link', dials: { bytes: whole(1372, 548, 0, 65_535), everyMs: every(30_000, 2000), lastsMs: ms(100, 10_000) } },
  partitions: { on: 'link', dials: { everyMs: every(60_000, 2000), lastsMs: ms(100, 10_000) } },
  rebinds: { on: 'node', dials: { everyMs: every(60_000, 1000), addressRate: rate(0.5) } },
  skew: { on: 'node', dials: { ppm: { mild: 0, wild: 500, isLog: false, isWhole: false, least: 0, most: 100_000 } } },
  jumps: { on: 'node', dials: { everyMs: every(60_000, 5000), ms: ms(10, 5000) } },
  pauses: { on: 'node', dials: { everyMs: every(30_000, 1000), lastsMs: ms(10, 30_000) } },
  sleeps: { on: 'node', dials: { everyMs: every(60_000, 5000), lastsMs: ms(100, 30_000) } },
  timers: { on: 'node', dials: { ms: ms(1, 1000) } },
}

/** All faults, in the order in which they are drawn, described and dropped. */
export const FAULT_NAMES: readonly FaultName[] = Object.keys(FAULTS) as FaultName[]

/** No weather at all. */
export function calm(): NetWeather {
  return {}
}

/** The numbers of a fault that is switched on, by the names of its dials; undefined when it is not. */
export function faultOf(weather: NetWeather, name: FaultName): Readonly<Record<string, number>> | undefined {
  return weather[name] as Readonly<Record<string, number>> | undefined
}

/** One line: `latency ms=80, loss rate=0.05`; `calm` when there is none. It reads as it is written. */
export function describeWeather(weather: NetWeather): string {
  const faults = FAULT_NAMES.flatMap((name) => {
    const numbers = faultOf(weather, name)
    return numbers === undefined ? [] : [`${name} ${Object.entries(numbers).map(([dial, value]) => `${dial}=${value}`).join(' ')}`]
  })
  return faults.length === 0 ? 'calm' : faults.join(', ')
}

/** Throws `ConfigError` on a fault that does not exist, a number that is missing, unknown or out of its bounds. */
export function checkWeather(weather: NetWeather): void {
  for (const [name, given] of Object.entries(weather)) {
    const fault = Object.hasOwn(FAULTS, name) ? FAULTS[name as FaultName] : undefined
    if (fault === undefined) throw new ConfigError(`weather.${name}`, 'is no fault', `There are ${FAULT_NAMES.join(', ')}.`)
    if (given === undefined) continue
    const numbers = given as Readonly<Record<string, number>>
    for (const dial of Object.keys(numbers)) {
      if (Object.hasOwn(fault.dials, dial)) continue
      throw new ConfigError(`weather.${name}.${dial}`, 'is unknown', `Give ${Object.keys(fault.dials).join(', ')}.`)
    }
    for (const [dial, { least, most, isWhole }] of Object.entries(fault.dials)) {
      const value = numbers[dial]
      if (value !== undefined && value >= least && value <= most && (!isWhole || Number.isInteger(value))) continue
      throw new ConfigError(`weather.${name}.${dial}`, `is ${value}`, `Give ${isWhole ? 'a whole number' : 'a number'} from ${least} to ${most}.`)
    }
  }
}
