/**
 * The weather of a simulated network: which network faults occur, and how severe each is. It is plain data: it can be
 * printed, stored with a failure and passed in again.
 *
 * ```ts
 * const weather: NetWeather = { latency: { ms: 80 }, loss: { rate: 0.05 }, bursts: { everyMs: 5000, lastsMs: 400, rate:
 * 0.9 } }
 * ```
 *
 * A fault that is not named does not occur. Faults of a link apply to every directed link separately; faults of a node
 * apply to the node: its cable, its address, its clock.
 *
 * `everyMs` is the mean of the calm between two episodes (exponentially distributed; 0 means always on). `lastsMs` is
 * the longest episode; short ones are more likely (an exponential cut off at `lastsMs`, mean 0.23 of it). `FAULTS`
 * defines for each number what is mild and what is wild: drawing, describing and shrinking all use that table.
 */

import { ConfigError } from '../core/base/assert.ts'

/** The faults of a simulated network. All are optional. */
export interface NetWeather {
  /** Link: delay of every datagram. */
  readonly latency?: { readonly ms: number }
  /** Link: extra delay up to this, per datagram, short more likely than long (as `lastsMs`). It reorders. */
  readonly jitter?: { readonly ms: number }
  /** Link: each datagram is lost at this rate, independently of the others. */
  readonly loss?: { readonly rate: number }
  /** Link: loss in bursts (Gilbert and Elliott): during an episode each datagram is lost at `rate`. */
  readonly bursts?: { readonly everyMs: number; readonly lastsMs: number; readonly rate: number }
  /** Node: during an episode it can neither send nor receive. */
  readonly outages?: { readonly everyMs: number; readonly lastsMs: number }
  /** Link: at `rate`, up to `copies` more arrive, each up to `lateMs` later. */
  readonly duplication?: { readonly rate: number; readonly copies: number; readonly lateMs: number }
  /** Link: at `rate`, a datagram waits until up to `distance` later ones have passed, but no longer than `holdMs`. */
  readonly reordering?: { readonly rate: number; readonly distance: number; readonly holdMs: number }
  /**
   * Link: at `rate`, bits or bytes change, the end is cut off or bytes are appended; and at `spliceRate` an old
   * datagram arrives in place of this one, or its tail on this one's head. Only for authenticated traffic.
   */
  readonly corruption?: { readonly rate: number; readonly spliceRate: number }
  /** Link: a line of `bps` behind a queue of `queueMs`; when the queue is full, datagrams are dropped. */
  readonly line?: { readonly bps: number; readonly queueMs: number }
  /** Link: a policer delays nothing, and drops what exceeds `bps` once `burstBytes` are used up. */
  readonly policing?: { readonly bps: number; readonly burstBytes: number }
  /** Link: cross traffic fills the queue ahead: the wait grows to `peakMs` in an episode, then drains. */
  readonly bloat?: { readonly everyMs: number; readonly lastsMs: number; readonly peakMs: number }
  /** Link: during an episode datagrams longer than `bytes` are dropped silently. */
  readonly mtu?: { readonly bytes: number; readonly everyMs: number; readonly lastsMs: number }
  /** Link: during an episode nothing passes in this direction; the other direction has its own episodes. */
  readonly partitions?: { readonly everyMs: number; readonly lastsMs: number }
  /** Node: it gets another port, or, at `addressRate`, another address; datagrams to the old one are lost. */
  readonly rebinds?: { readonly everyMs: number; readonly addressRate: number }
  /** Node: its clock is up to this many millionths fast or slow. */
  readonly skew?: { readonly ppm: number }
  /** Node: its clock leaps ahead, by up to `ms`. */
  readonly jumps?: { readonly everyMs: number; readonly ms: number }
  /** Node: it stops for a while, and its clock continues. */
  readonly pauses?: { readonly everyMs: number; readonly lastsMs: number }
  /** Node: it stops for a while, and its clock stops too. */
  readonly sleeps?: { readonly everyMs: number; readonly lastsMs: number }
  /** Node: its timers fire at multiples of this. Datagrams wake it at once. */
  readonly timers?: { readonly ms: number }
  /** Node: it stops for at least 20 ms (or `lastsMs`, if less), and its clock continues, like a busy main thread. */
  readonly stalls?: { readonly everyMs: number; readonly lastsMs: number }
}

/** The name of a fault of `NetWeather`. */
export type FaultName = keyof NetWeather

/** One number of a fault. */
export interface Dial {
  /** The value at which it has almost no effect. */
  readonly mild: number
  /** The worst value that is drawn. A test may use worse, up to `most`. */
  readonly wild: number
  /** Whether it is scaled geometrically, for numbers that span orders of magnitude. */
  readonly isLog: boolean
  readonly isWhole: boolean
  readonly least: number
  readonly most: number
}

/** A fault: what it applies to, and its dials. */
export interface Fault {
  readonly on: 'link' | 'node'
  readonly dials: Readonly<Record<string, Dial>>
}

const rate = (wild: number): Dial => ({ mild: 0, wild, isLog: false, isWhole: false, least: 0, most: 1 })
const ms = (mild: number, wild: number): Dial => ({
  mild,
  wild,
  isLog: mild > 0,
  isWhole: false,
  least: 0,
  most: 3_600_000,
})
const every = (mild: number, wild: number): Dial => ({
  mild,
  wild,
  isLog: true,
  isWhole: false,
  least: 0,
  most: 86_400_000,
})
const whole = (mild: number, wild: number, least: number, most: number): Dial => ({
  mild,
  wild,
  isLog: mild > 0,
  isWhole: true,
  least,
  most,
})
/** From a good line to the slowest that is still sold, or throttled to. */
const bps: Dial = whole(10_000_000, 64_000, 8000, 10_000_000_000)

/** Every fault with the ranges that random runs draw from. */
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
  // 1372 and 548 are the datagram sizes of paths with an MTU of 1400 and 576 bytes.
  mtu: {
    on: 'link',
    dials: { bytes: whole(1372, 548, 0, 65_535), everyMs: every(30_000, 2000), lastsMs: ms(100, 10_000) },
  },
  partitions: { on: 'link', dials: { everyMs: every(60_000, 2000), lastsMs: ms(100, 10_000) } },
  rebinds: { on: 'node', dials: { everyMs: every(60_000, 1000), addressRate: rate(0.5) } },
  skew: { on: 'node', dials: { ppm: { mild: 0, wild: 500, isLog: false, isWhole: false, least: 0, most: 100_000 } } },
  jumps: { on: 'node', dials: { everyMs: every(60_000, 5000), ms: ms(10, 5000) } },
  pauses: { on: 'node', dials: { everyMs: every(30_000, 1000), lastsMs: ms(10, 30_000) } },
  sleeps: { on: 'node', dials: { everyMs: every(60_000, 5000), lastsMs: ms(100, 30_000) } },
  timers: { on: 'node', dials: { ms: ms(1, 1000) } },
  stalls: { on: 'node', dials: { everyMs: every(5000, 100), lastsMs: ms(20, 200) } },
}

/** All faults, in the order in which they are drawn, described and dropped. */
export const FAULT_NAMES: readonly FaultName[] = Object.keys(FAULTS) as FaultName[]

/** No weather at all. */
export function calm(): NetWeather {
  return {}
}

/** The numbers of an enabled fault, keyed by dial; undefined when it is not enabled. */
export function faultOf(weather: NetWeather, name: FaultName): Readonly<Record<string, number>> | undefined {
  return weather[name] as Readonly<Record<string, number>> | undefined
}

/** One line: `latency ms=80, loss rate=0.05`; `calm` when there is none. */
export function describeWeather(weather: NetWeather): string {
  const faults = FAULT_NAMES.flatMap((name) => {
    const numbers = faultOf(weather, name)
    return numbers === undefined
      ? []
      : [
          `${name} ${Object.entries(numbers)
            .map(([dial, value]) => `${dial}=${value}`)
            .join(' ')}`,
        ]
  })
  return faults.length === 0 ? 'calm' : faults.join(', ')
}

/** Throws `ConfigError` for an unknown fault, and for a number that is missing, unknown or out of range. */
export function checkWeather(weather: NetWeather): void {
  for (const [name, given] of Object.entries(weather)) {
    const fault = Object.hasOwn(FAULTS, name) ? FAULTS[name as FaultName] : undefined
    if (fault === undefined)
      throw new ConfigError(`weather.${name}`, 'unknown fault', `use one of ${FAULT_NAMES.join(', ')}.`)
    if (given === undefined) continue
    const numbers = given as Readonly<Record<string, number>>
    for (const dial of Object.keys(numbers)) {
      if (Object.hasOwn(fault.dials, dial)) continue
      throw new ConfigError(
        `weather.${name}.${dial}`,
        'unknown dial',
        `use one of ${Object.keys(fault.dials).join(', ')}.`,
      )
    }
    for (const [dial, { least, most, isWhole }] of Object.entries(fault.dials)) {
      const value = numbers[dial]
      if (value !== undefined && value >= least && value <= most && (!isWhole || Number.isInteger(value))) continue
      throw new ConfigError(
        `weather.${name}.${dial}`,
        `out of range (expected ${isWhole ? 'an integer' : 'a number'} from ${least} to ${most}, got ${value})`,
        'give a number in this range.',
      )
    }
  }
}
