/**
 * Plays a recording into a world of views: any tick, forwards one by one, and from there into whatever reads a Timeline.
 *
 *   playback.seek(1200)                              the world as it stood after tick 1200
 *   playback.step()                                  1201
 *   playback.tell(timeline)                          its rows into a sparse Timeline, for interpolation
 *
 * Its world can also be sampled by a dense Timeline, tick after tick: then everything that reads an authority's, such as
 * replication to spectators who watch a minute late, reads the past instead and does not know.
 *
 * It does not run the game: what it shows is what was there.
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

/** What a recording must know of a game to be read: a `Game` is one, and so is what `readGameText` gives. */
export interface RecordedGame {
  readonly entities: readonly Entity[]
  /** Ticks from one snapshot to the next, for who asks what it cost to tell. Default: 1. */
  readonly snapshotTicks?: number
  /** Compared, where there is one. */
  readonly fingerprint?: Uint8Array
}

/** How a move went: `missing`, the recording does not have that tick; `damaged`, it has, and it cannot be read. */
export type Played = 'ok' | 'missing' | 'damaged'

const NOWHERE = -1

export class Playback {
  /** As it stood after `tick`. */
  readonly world: World
  /** Where it is; -1 before the first move, and after one into damage. */
  tick: Tick = NOWHERE
  readonly #list: ChunkList
  readonly #reader: RowsReader

  constructor(list: ChunkList, game: RecordedGame) {
    const { fingerprint, names, fields, tickRate, codec } = list.head
    const rowsCodec = codecOf(codec)
    assert(rowsCodec !== undefined, 'what is opened is in a codec that is known')
    if (game.fingerprint?.some((byte, at) => byte !== fingerprint[at]) || game.entities.length !== names.length) {
      throw new ConfigError('game', 'the recording is of another game, or another build of it', 'Play it with the build that made it, or with readGameText(recording.head.text), which needs none.')
    }
    this.#list = list
    this.world = new World(game.entities, { isReadOnly: true })
    this.#reader = new RowsReader(this.world, fields, tickRate, rowsCodec)
  }

  /** The first tick that can be shown; -1 when there is none. */
  get first(): Tick {
    return this.#list.chunks.find(({ type, flags }) => type === CHUNK.rows && flags !== 0)?.tick ?? NOWHERE
  }

  /** The last tick there is, so far; -1 when there is none. */
  get last(): Tick {
    const chunk = this.#list.chunks.findLast(({ type }) => type === CHUNK.rows)
    return chunk === undefined ? NOWHERE : chunk.tick + tickCountOf(this.#list, chunk) - 1
  }

  /** The next tick after this one that playback can begin at: where to go on after a gap. -1 when there is none. */
  keyAfter(tick: Tick): Tick {
    return this.#list.chunks.find(({ type, flags, tick: first }) => type === CHUNK.rows && flags !== 0 && first > tick)?.tick ?? NOWHERE
  }

  /** Goes to a tick, from the key before it. */
  seek(tick: Tick): Played {
    if (tick === this.tick) return 'ok'
    // On the way already, and no key is nearer: what is between is played.
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
    // Where a chunk is missing, the next key begins later: that is a gap to seek over, not to slip through.
    return next === undefined || next.tick !== this.tick + 1 ? 'missing' : this.#begin(next, false)
  }

  /** Puts every row of this tick into a sparse Timeline of `world`. */
  tell(timeline: Timeline): void {
    const { objects, stores } = this.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE) continue
      const { rows, schema } = stores[type]
      timeline.put(this.tick, type, objects.idAt(index), objects.ownerAt(index), rows, objects.slotAt(index) * schema.laneCount)
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
