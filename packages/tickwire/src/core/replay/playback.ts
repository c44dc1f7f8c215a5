/**
 * Plays a recording into a read-only world: any tick, forwards one by one, and from there into a Timeline.
 *
 *   playback.seek(1200)                              the world as it was after tick 1200
 *   playback.step()                                  1201
 *   playback.writeTo(timeline)                          its rows into a sparse Timeline, for interpolation
 *
 * A dense Timeline can also sample its world, tick after tick. Then all code that reads an authority's Timeline, such
 * as replication to spectators that watch a minute late, reads the past instead without a change.
 *
 * It does not run the game: it shows the recorded rows.
 */

import { assert, ConfigError } from '../base/assert.ts'
import type { Tick } from '../base/time.ts'
import type { Entity } from '../schema/definition.ts'
import { NO_TYPE } from '../world/object-table.ts'
import type { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import { CHUNK, type ChunkEntry } from './chunk.ts'
import { codecOf } from './recording-head.ts'
import { findChunk, tickCountOf, type ChunkList } from './recording.ts'
import { RowsReader } from './rows-reader.ts'

/** What playback needs to know of a game: a `Game` has it, and so has the result of `readGameText`. */
export interface RecordedGame {
  /** The entities, in the order of the game. */
  readonly entities: readonly Entity[]
  /** Ticks from one snapshot to the next, for measurements of bandwidth. Default: 1. */
  readonly snapshotTicks?: number
  /** Compared with the recording, if present. */
  readonly fingerprint?: Uint8Array
}

/** The result of a move. `missing`: the recording does not have that tick. `damaged`: it has, and it cannot be read. */
export type Played = 'ok' | 'missing' | 'damaged'

const NOWHERE = -1

/** Shows a recording tick by tick, in a world of its own. */
export class Playback {
  /** The world as it was after `tick`. */
  readonly world: World
  /** The current tick; -1 before the first move, and after a move into damage. */
  tick: Tick = NOWHERE
  readonly #list: ChunkList
  readonly #reader: RowsReader

  constructor(list: ChunkList, game: RecordedGame) {
    const { fingerprint, names, fields, tickRate, codec } = list.head
    const rowsCodec = codecOf(codec)
    assert(rowsCodec !== undefined, 'what is opened is in a codec that is known')
    if (game.fingerprint?.some((byte, at) => byte !== fingerprint[at]) || game.entities.length !== names.length) {
      throw new ConfigError(
        'game',
        'the recording is of another game, or of another build of it',
        'play it with the build that made it, or with readGameText(recording.head.text), which needs no build.',
      )
    }
    this.#list = list
    this.world = new World(game.entities, { isReadOnly: true })
    this.#reader = new RowsReader(this.world, fields, tickRate, rowsCodec)
  }

  /** The first tick that can be played; -1 when there is none. */
  get first(): Tick {
    return this.#list.chunks.find(({ type, flags }) => type === CHUNK.rows && flags !== 0)?.tick ?? NOWHERE
  }

  /** The last tick recorded so far; -1 when there is none. */
  get last(): Tick {
    const chunk = this.#list.chunks.findLast(({ type }) => type === CHUNK.rows)
    return chunk === undefined ? NOWHERE : chunk.tick + tickCountOf(this.#list, chunk) - 1
  }

  /** The next tick after `tick` at which playback can begin, for example after a gap; -1 when there is none. */
  keyAfter(tick: Tick): Tick {
    return (
      this.#list.chunks.find(({ type, flags, tick: first }) => type === CHUNK.rows && flags !== 0 && first > tick)?.tick
      ?? NOWHERE
    )
  }

  /** Goes to a tick, from the key before it. */
  seek(tick: Tick): Played {
    if (tick === this.tick) return 'ok'
    // If playback is already between that key and the tick, it continues from where it is.
    const key = findChunk(this.#list, CHUNK.rows, tick, true)
    if (key === undefined) return 'missing'
    if (!(this.tick >= key.tick && this.tick < tick)) {
      const begun = this.#begin(key, true)
      if (begun !== 'ok') return begun
    }
    while (this.tick < tick) {
      const played = this.step()
      if (played !== 'ok') return played
    }
    return 'ok'
  }

  /** Goes to the next tick. */
  step(): Played {
    if (this.tick === NOWHERE) {
      const { first } = this
      return first === NOWHERE ? 'missing' : this.seek(first)
    }
    if (this.#reader.left > 0) return this.#read(this.tick + 1, false)
    const next = findChunk(this.#list, CHUNK.rows, this.tick + 1, false)
    // Where a chunk is missing, the next key begins later. The caller must seek over that gap.
    return next === undefined || next.tick !== this.tick + 1 ? 'missing' : this.#begin(next, false)
  }

  /** Puts every row of this tick into a sparse Timeline of `world`. */
  writeTo(timeline: Timeline): void {
    const { objects, stores } = this.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE) continue
      const { rows, schema } = stores[type]
      timeline.put(
        this.tick,
        type,
        objects.idAt(index),
        objects.ownerAt(index),
        rows,
        objects.slotAt(index) * schema.laneCount,
      )
    }
  }

  #begin(chunk: ChunkEntry, mustBeKey: boolean): Played {
    const body = this.#list.load(chunk)
    if (body === undefined) return this.#lose()
    this.#reader.reset(body)
    if (this.#reader.left === 0) return this.#lose()
    return this.#read(chunk.tick, mustBeKey)
  }

  #read(tick: Tick, mustBeKey: boolean): Played {
    if (!this.#reader.read(mustBeKey)) return this.#lose()
    this.tick = tick
    this.world.tick = tick
    this.world.sample()
    this.world.collectValues()
    return 'ok'
  }

  #lose(): Played {
    this.tick = NOWHERE
    this.#reader.left = 0
    return 'damaged'
  }
}
