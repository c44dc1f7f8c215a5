/**
 * The cost of replicating a crowd: bytes and CPU time beside @colyseus/schema and nengi 2, and the bytes that are left
 * on the heap.
 *
 * Every rival gets the same crowd (`scenario.ts`), writes it into its own objects and makes the data that all clients
 * are sent. Rivals take turns tick by tick in one process. The state that clients decode is compared with the server's
 * state, bit by bit. The tick in which all clients join is not counted. Bytes are those that are passed to the
 * transport, without headers and authentication tags.
 *
 * CPU time is that of the process, so other work of the machine matters less; ratios are medians of the ratios within a
 * tick. `encode` is all work of making the packets. For Tickwire it includes storing the tick and processing
 * acknowledgements. `write` is writing the state into the rivals' own objects, with change tracking and quantisation:
 * it is a column of the table and not a figure.
 */

import { allocatedBytes, median, type BenchResult, type Figure, type Table } from '../harness.ts'
import { ColyseusCrowd } from './colyseus-crowd.ts'
import { cpuMs, seesAll, seesMost, verify, type CrowdPeer, type Sees } from './crowd-peer.ts'
import { NengiCrowd } from './nengi-crowd.ts'
import { TickwireCrowd, type Codec, type Distance } from './tickwire-crowd.ts'
import { makeCrowd, type Frame } from '../scenario.ts'

const COLYSEUS = '@colyseus/schema 5.0.34, quantised'
const STATE_VIEW = '@colyseus/schema 5.0.34, quantised, StateView'
const WARMUP_TICKS = 60
/**
 * Where the measurement begins. All players of a crowd start at the same moment: six in ten move in the second second,
 * eight in ten in the fifth, and only then the seven in ten of scenario.ts. By then the code is also compiled, as on a
 * server that runs for hours.
 */
const TIMED_WARMUP_TICKS = 480
/** Round trips until all clients have acknowledged. */
const REAL_WARMUP_TICKS = 30
const HEAP_PLAYERS = 200
const HEAP_RUN_TICKS = 500
const HEAP_RUNS = 20
const CPU_PLAYERS = 1000
const CPU_CLIENTS = 100

/** One race. */
export interface Setting {
  readonly players: number
  readonly clients: number
  readonly seed: number
  readonly distance: Distance
  readonly views: 'same' | 'subset'
  readonly codec: Codec
  readonly ticks: number
}

/** The results of one rival, by tick. */
interface Taken {
  readonly peer: CrowdPeer
  readonly write: number[]
  readonly encode: number[]
  bytes: number
}

export type Base = Pick<Setting, 'seed' | 'distance' | 'codec'>

/** One race by itself. */
export function runRace(setting: Setting): BenchResult {
  const taken = race(setting)
  return { tables: [table(setting, taken)], figures: [...byteFigures(setting, taken), ...cpuFigures(setting, taken)] }
}

/** The settings of the races that have budgets. */
export function runStandard(base: Base): BenchResult {
  const small: Setting = { ...base, players: 200, clients: 1, views: 'same', ticks: 300 }
  const large: Setting = { ...base, players: CPU_PLAYERS, clients: CPU_CLIENTS, views: 'same', ticks: 30 }
  const tables: Table[] = []
  const figures: Figure[] = []
  const entropy: Setting = { ...small, codec: 'entropy' }
  const aged: Setting = { ...large, codec: 'entropy', distance: 6 }
  const settings = [
    small,
    { ...small, distance: 6 },
    entropy,
    { ...entropy, distance: 6 },
    large,
    { ...large, views: 'subset' as const },
    aged,
    { ...aged, distance: 'real' as const },
  ]
  for (const setting of settings) {
    const taken = race(setting)
    tables.push(table(setting, taken))
    if (setting.clients === 1) figures.push(...byteFigures(setting, taken))
    else
      figures.push(
        ...cpuFigures(setting, taken).map((figure) => ({
          ...figure,
          name: `${setting.codec === 'packed' ? '' : `${codecName(setting)}_`}${figure.name}_${setting.views}`,
        })),
      )
  }
  figures.push({
    name: 'heap_bytes_per_tick',
    value: heapBytes(base),
    unit: 'B/tick',
    against: 'replication, a source and a sink, 200 players, 10,000 ticks',
    atMost: 256,
  })
  return { tables, figures }
}

function contenders({ players, clients, views, codec, distance }: Setting, sees: Sees): CrowdPeer[] {
  return [
    new TickwireCrowd(players, clients, { codec, distance, sees }),
    ...(views === 'same'
      ? [new ColyseusCrowd(players, clients, 'quantised'), new ColyseusCrowd(players, clients, 'f32')]
      : []),
    new ColyseusCrowd(players, clients, 'quantised', sees),
    new ColyseusCrowd(players, clients, 'f32', sees),
    new NengiCrowd(players, clients, 'quantised', sees),
    new NengiCrowd(players, clients, 'f32', sees),
  ]
}

/** Plays the same crowd with all rivals, in turns. */
function race(setting: Setting): Taken[] {
  const { players, clients, seed, views, ticks, distance } = setting
  const sees = views === 'same' ? seesAll : seesMost
  const first =
    (clients === 1 ? WARMUP_TICKS : TIMED_WARMUP_TICKS) + (distance === 'real' ? REAL_WARMUP_TICKS : distance)
  const frames = makeCrowd(players, first + ticks, seed)
  const taken = contenders(setting, sees).map((peer): Taken => ({ peer, write: [], encode: [], bytes: 0 }))
  frames.forEach((frame, tick) => {
    for (let turn = 0; turn < taken.length; turn++) {
      const one = taken[(tick + turn) % taken.length]!
      play(one, frame, tick >= first)
      // Until the first rows are acknowledged, whole rows are repeated now and then, but not in every tick.
      if (one.peer instanceof TickwireCrowd) {
        // Lost packets are sent again, so readers are behind for a while.
        if (distance !== 'real' && tick >= distance) one.peer.verifyReaders(frame)
      } else {
        verify(one.peer, frame, sees, tick)
      }
    }
  })
  return taken
}

function play(one: Taken, frame: Frame, isCounted: boolean): void {
  const { peer } = one
  const start = cpuMs()
  peer.write(frame)
  const written = cpuMs()
  const bytes = peer.send()
  const sent = cpuMs()
  peer.receive()
  if (!isCounted) return
  one.write.push(written - start)
  one.encode.push(sent - written)
  one.bytes += bytes
}

const middle = (values: readonly number[]): number => median(values.toSorted((a, b) => a - b))
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

function table(setting: Setting, taken: readonly Taken[]): Table {
  const { players, clients, views, ticks, seed } = setting
  const reference = find(taken, 'colyseus quantised, StateView')
  return {
    title:
      `${players} players, ${clients} clients, ${views === 'same' ? 'all see all' : 'each sees another nine of ten'}, `
      + `${ticks} ticks, seed ${seed}`,
    columns: ['what', 'B/client/tick', 'write us', 'encode us', 'mean', 'encode / StateView'],
    rows: taken.map((one) => [
      one.peer.name,
      one.bytes / ticks / clients,
      middle(one.write) * 1000,
      middle(one.encode) * 1000,
      mean(one.encode) * 1000,
      ratioOf(one, reference),
    ]),
  }
}

function find(taken: readonly Taken[], name: string): Taken {
  const one = taken.find(({ peer }) => peer.name === name)
  if (one === undefined) throw new Error(`there is no peer ${name}`)
  return one
}

/** The ratio of CPU times: tick by tick, or of the sums where ticks are too short for the clock. */
function ratioOf(one: Taken, reference: Taken): number {
  const ratios = one.encode.map((ms, tick) => ms / reference.encode[tick]!)
  return ratios.every(Number.isFinite) ? middle(ratios) : mean(one.encode) / mean(reference.encode)
}

/** If all clients have the same view, the comparison is with the stream that all clients share. */
function byteFigures({ players, clients, ticks, views, codec, distance }: Setting, taken: readonly Taken[]): Figure[] {
  const [ours] = taken
  const theirs = find(taken, views === 'same' ? 'colyseus quantised' : 'colyseus quantised, StateView')
  // Entropy alone has the short name: frames as they are sent, with their heads, with built-in tables.
  const name = `${codecName({ codec, distance })}${codec === 'entropy' ? '_frames' : ''}`
  const isBudgeted = players === 200 && views === 'same'
  const atMost = !isBudgeted
    ? undefined
    : codec === 'packed'
      ? distance === 1
        ? 0.3
        : undefined
      : distance === 1
        ? 0.13
        : distance === 6
          ? 0.25
          : undefined
  return [
    {
      name: `${name}_bytes_ratio_colyseus`,
      value: ours!.bytes / theirs.bytes,
      unit: 'ratio',
      against: COLYSEUS,
      ...(atMost !== undefined && { atMost }),
    },
    { name: `${name}_bytes_per_client_tick`, value: ours!.bytes / ticks / clients, unit: 'B', against: null },
  ]
}

/** A codec, and the age of its baselines. */
function codecName({ codec, distance }: Pick<Setting, 'codec' | 'distance'>): string {
  return `${codec}${distance === 1 ? '' : distance === 'real' ? '_real' : `_t${distance}`}`
}

function cpuFigures({ players, clients, views, distance }: Setting, taken: readonly Taken[]): Figure[] {
  const isBudgeted = players === CPU_PLAYERS && clients === CPU_CLIENTS
  const value = ratioOf(taken[0]!, find(taken, 'colyseus quantised, StateView'))
  return [
    {
      name: 'encode_cpu_ratio_stateview',
      value,
      unit: 'ratio',
      against: STATE_VIEW,
      // The bars of ADR 33.
      ...(isBudgeted && { atMost: distance === 'real' ? 0.17 : views === 'same' ? 0.15 : 0.6 }),
    },
  ]
}

/** Forwards and backwards, so that no player jumps when the crowd repeats. */
function heapBytes({ seed, codec, distance }: Base): number {
  const peer = new TickwireCrowd(HEAP_PLAYERS, 1, { codec, distance, sees: seesAll })
  const frames = makeCrowd(HEAP_PLAYERS, 256, seed)
  let tick = 0
  return allocatedBytes(() => {
    for (let run = 0; run < HEAP_RUN_TICKS; run++, tick++) {
      const place = tick % 512
      peer.write(frames[place < 256 ? place : 511 - place]!)
      peer.send()
      peer.receive()
    }
  }, HEAP_RUN_TICKS, HEAP_RUNS)
}
