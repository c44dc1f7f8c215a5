/**
 * Small worlds whose snapshots are the vectors of test/vectors/snapshots.json, made by the engine.
 *
 * Every frame is written by the engine, or is such a frame with a change. After each frame the vector lists what a
 * reader holds. Lamps and doors have only bools (snapshot-checker.ts says why).
 */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { Replicator } from '../../packages/tickwire/src/core/replication/replicator.ts'
import type { Relevance } from '../../packages/tickwire/src/core/replication/relevance.ts'
import { ClaimBook } from '../../packages/tickwire/src/core/replication/authority/claim-book.ts'
import { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import { SnapshotSource } from '../../packages/tickwire/src/core/replication/snapshot-source.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { bool } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { NO_TYPE } from '../../packages/tickwire/src/core/world/object-table.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import type { Flag, HeldObject } from './snapshot-checker.ts'

export interface SceneFrame {
  /** What the frame shows. */
  readonly shows: string
  readonly hex: string
  readonly verdict: 'ok' | 'no-ack' | 'broken'
  /** The objects that are held afterwards, ascending. */
  readonly held: readonly HeldObject[]
}

export interface Scene {
  readonly name: string
  /** By type: the flags of the entity. */
  readonly entities: readonly (readonly Flag[])[]
  /** Types whose objects are written by their owners. */
  readonly shared?: readonly number[]
  readonly frames: readonly SceneFrame[]
}

export const Lamp = entity({ red: bool, green: bool, blue: bool.team(), key: bool.owner() }, { name: 'Lamp' })
/** Written by its owner. */
export const Torch = entity({ isLit: bool, isOwned: bool.owner() }, { name: 'Torch', authority: 'shared' })
export const Door = entity({ isOpen: bool, isLocked: bool.owner() }, { name: 'Door' })

export const FLAGS: readonly (readonly Flag[])[] = [
  [
    { name: 'red', audience: 'all' },
    { name: 'green', audience: 'all' },
    { name: 'blue', audience: 'team' },
    { name: 'key', audience: 'owner' },
  ],
  [
    { name: 'isOpen', audience: 'all' },
    { name: 'isLocked', audience: 'owner' },
  ],
]

const SHARED_FLAGS: readonly (readonly Flag[])[] = [
  [{ name: 'isLit', audience: 'all' }, { name: 'isOwned', audience: 'owner' }],
  [{ name: 'isOpen', audience: 'all' }, { name: 'isLocked', audience: 'owner' }],
]

const WINDOW = 16
const PEER = 1

/** What a sink holds, in the checker's form. */
export function heldBy(world: World, timeline: Timeline, { held }: SnapshotSink): HeldObject[] {
  return [...held.ids].flatMap((id, index) => {
    if (id === 0) return []
    const type = held.types[index]!
    const { laneCount } = world.stores[type]!.schema
    const at = timeline.findLatest(type, id)
    const row = [...timeline.pools[type]!.rows.subarray(at, at + laneCount)].join('')
    const token = world.stores[type]!.isShared ? { writesFrom: held.authorityTicks[index]! } : {}
    return [
      { id, type, set: held.sets[index]!, owner: held.owners[index]!, ...token, tick: held.receivedAt[index]!, row },
    ]
  })
}

/** A receiver of the engine. */
export class SceneReader {
  readonly world: World
  readonly timeline: Timeline
  readonly sink: SnapshotSink

  constructor(isShared = false) {
    this.world = new World(isShared ? [Torch, Door] : [Lamp, Door], { isReadOnly: true })
    this.timeline = new Timeline(this.world, WINDOW)
    this.sink = new SnapshotSink(this.world, this.timeline)
  }

  accept(bytes: Uint8Array): 'ok' | 'no-ack' | 'broken' {
    return this.sink.accept(0, 0, new BitReader(bytes))
  }

  get held(): HeldObject[] {
    return heldBy(this.world, this.timeline, this.sink)
  }
}

/** A stage: one authority, one receiver, and every frame that was sent between them. */
class Stage {
  readonly world: World
  readonly timeline: Timeline
  readonly #book: ClaimBook
  readonly frames: SceneFrame[] = []
  /** Indexes that are not in view. */
  readonly hidden = new Set<number>()
  /** By owner: the field set, where it is not the common one. */
  readonly sets = new Map<number, number>([[PEER, 2], [2, 1]])
  readonly #source: SnapshotSource
  readonly #reader: SceneReader
  #sequence = 0

  constructor(isShared = false) {
    this.world = new World(isShared ? [Torch, Door] : [Lamp, Door])
    this.timeline = new Timeline(this.world, WINDOW)
    this.#book = new ClaimBook(this.world)
    this.#reader = new SceneReader(isShared)
    const { world, hidden, sets } = this
    const view: Relevance & { count: number; version: number } = {
      count: 0,
      version: 0,
      indexes: new Uint32Array(1024),
      weights: new Float32Array(1024).fill(1),
      sets: new Uint8Array(1024),
      refresh(): void {
        this.version++
        this.count = 0
        for (let index = 0; index < world.objects.highWater; index++) {
          if (world.objects.typeAt(index) === NO_TYPE || hidden.has(index)) continue
          this.indexes[this.count] = index
          this.sets[this.count++] = sets.get(world.objects.ownerAt(index)) ?? 0
        }
      },
    }
    const births = { birthTickAt: () => 2, birthOrdinalAt: (index: number) => index }
    this.#source = new SnapshotSource(
      new Replicator(this.world, this.timeline, { births, claims: this.#book }),
      view,
      PEER,
    )
  }

  /** One tick, and its frame, if there is one. It is received, and acknowledged or given up, unless said otherwise. */
  tick(shows: string, step: () => void, fate: 'acked' | 'lost' | 'unacked' | 'late' = 'acked'): Uint8Array {
    this.world.beginTick()
    step()
    this.world.endTick()
    this.#book.update()
    this.timeline.sample()
    this.#source.begin()
    const out = new BitWriter(new Uint8Array(1200))
    const sequence = ++this.#sequence
    if (!this.#source.fill(0, sequence, out)) return new Uint8Array(0)
    const bytes = out.bytes.slice(0, out.finish())
    if (fate === 'acked' || fate === 'unacked') this.receive(shows, bytes)
    if (fate === 'acked') this.#source.onDelivered(0, sequence)
    else if (fate === 'lost') this.#source.onLost(0, sequence)
    return bytes
  }

  receive(shows: string, bytes: Uint8Array): void {
    const verdict = this.#reader.accept(bytes)
    this.frames.push({ shows, hex: Buffer.from(bytes).toString('hex'), verdict, held: this.#reader.held })
  }

  rest(ticks: number): void {
    for (let count = 0; count < ticks; count++) this.tick('', () => {})
  }
}

/** A frame that no engine wrote. */
function frameOf(tick: number, bits: string): Uint8Array {
  const digits = bits.replaceAll(' ', '')
  return Uint8Array.of(
    tick,
    ...(digits.padEnd(Math.ceil(digits.length / 8) * 8, '0').match(/.{8}/g) ?? []).map((byte) =>
      Number.parseInt(byte, 2),
    ),
  )
}

function everyday(): Scene {
  const stage = new Stage()
  const { world } = stage
  stage.tick('an empty world has a tick', () => {})
  const [lamp, own, mate, door] = [
    world.spawn(Lamp, {}),
    world.spawn(Lamp, { key: true, blue: true }, PEER),
    world.spawn(Lamp, { blue: true, key: true }, 2),
    world.spawn(Door, { isOpen: true }),
  ]
  stage.tick(
    "four objects come into view: everyone's fields, the owner's with their birth, the team's, another type",
    () => {},
  )
  stage.tick('two deltas of one age; the second one says only that', () => {
    lamp.red = true
    own.key = false
  })
  stage.tick('two ages', () => {
    lamp.red = false
    door.isOpen = false
  })
  stage.tick('what changed is hidden: nothing is sent', () => {
    mate.key = false
  })
  stage.tick(
    'a packet that is lost',
    () => {
      lamp.green = true
    },
    'lost',
  )
  stage.tick('a lost row is sent again, with rows that changed since', () => {
    lamp.red = true
  })
  stage.tick(
    'sent, and not yet acknowledged',
    () => {
      door.isOpen = true
    },
    'unacked',
  )
  stage.tick('back to what it was: the same as the baseline', () => {
    door.isOpen = false
  })
  stage.tick('another owner, the same fields', () => {
    world.setOwner(lamp, 7)
  })
  stage.tick('another owner, other fields: a full row', () => {
    world.setOwner(mate, 3)
  })
  stage.hidden.add(door.id >>> 16)
  stage.tick('an object that left our view', () => {})
  stage.hidden.clear()
  stage.tick('and is back, whole', () => {})
  stage.tick('an object that is no more', () => { world.despawn(mate) })
  stage.tick('another one at its index', () => { world.spawn(Door, { isOpen: true }) })
  stage.rest(12)
  stage.tick('after a rest', () => { lamp.green = false })
  stage.rest(120)
  stage.tick('after a longer rest', () => { lamp.green = true })
  stage.rest(300)
  stage.tick('after a very long rest', () => { lamp.green = false; own.red = true })
  return { name: 'every day', entities: FLAGS, frames: stage.frames }
}

function gaps(): Scene {
  const stage = new Stage()
  const doors = Array.from({ length: 700 }, () => stage.world.spawn(Door, {}))
  const seen = [0, 1, 3, 6, 10, 16, 23, 44, 66, 67, 90, 91, 368, 369, 647, 648, 699]
  doors.forEach((_, index) => { if (!seen.includes(index)) stage.hidden.add(index) })
  stage.tick('gaps of 1, 2, 3, 4, 6, 7, 21, 22, 23, 277, 278 and 51', () => {})
  stage.tick('the same as deltas', () => { for (const index of seen) doors[index]!.isOpen = true })
  return { name: 'gaps', entities: FLAGS, frames: stage.frames }
}

function disorder(): Scene {
  const stage = new Stage()
  const { world } = stage
  const [lamp, door] = [world.spawn(Lamp, {}), world.spawn(Door, {})]
  stage.tick('two objects', () => {})
  const late = stage.tick('', () => { lamp.red = true }, 'late')
  stage.tick('a newer row', () => { lamp.green = true })
  stage.receive('an older one, late: it is remembered and changes nothing', late)
  const lateFull = stage.tick('', () => { world.setOwner(lamp, PEER) }, 'late')
  stage.tick('gone', () => { world.despawn(lamp) })
  stage.receive('a full row that is older than its end', lateFull)
  const reborn = stage.tick('', () => { world.spawn(Lamp, { red: true }) }, 'late')
  stage.receive('another object takes the index', reborn)
  stage.tick('a delta of the other', () => { door.isOpen = true })
  const [honest] = [Buffer.from(stage.frames.at(-1)!.hex, 'hex')]
  stage.receive('an age whose row we do not hold', frameOf(40, '0001 1 1 10 0010011 0 0 10'))
  stage.receive('a delta of an unknown object', frameOf(41, '0001 000100000001 1 00000 0 10'))
  stage.receive('padding that is too long', Uint8Array.of(...honest, 0))
  stage.receive('an age before the world began', frameOf(5, '0001 1 1 01111 1 10'))
  stage.receive('as the delta before, and there is none before', frameOf(42, '1 10'))
  stage.receive('no such kind', frameOf(42, '0001 1 00000'))
  stage.receive('an index by 16 bits that is near enough for 8', frameOf(42, '0001 0000 0000000000001000 1 00000 0 10'))
  stage.receive('cut off', honest.subarray(0, 1 + (honest.length >> 1)))
  stage.receive('no bytes at all', new Uint8Array(0))
  const both = (): void => {
    for (const other of world.each(Lamp)) other.red = !other.red
    door.isOpen = !door.isOpen
  }
  for (const shows of ['two change', 'the same objects again']) stage.tick(shows, both)
  const [now] = stage.tick('two deltas, the second with the age of the first', both)
  stage.receive(
    'the same frame, the index of the second by 16 bits',
    frameOf(now!, '0001 1 1 00000 0 10 001 111 0000000000000001 1'),
  )
  stage.receive('the same frame, the second encoded at length', frameOf(now!, '0001 1 1 00000 0 10 0001 1 1 00000 0 1'))
  stage.receive('a row before the baseline, of a coder that looks at none', frameOf(now!, '0001 1 1 00000 1 10'))
  return { name: 'out of order, and nonsense', entities: FLAGS, frames: stage.frames }
}

function between(): Scene {
  const stage = new Stage()
  stage.world.spawn(Lamp, {})
  stage.tick('an object', () => {})
  stage.receive(
    'a baseline eight ticks after: the row that was sent last',
    frameOf(13, '0001 1 1 00011 0 0 10'),
  )
  stage.receive('an older one, late, with a baseline one tick earlier', frameOf(12, '0001 1 1 00011 0 0 01'))
  stage.receive(
    'a baseline one tick after a row was sent, valid until the tick before this',
    frameOf(20, '0001 1 1 00101 1 10'),
  )
  return { name: 'baselines between two snapshots of a row', entities: FLAGS, frames: stage.frames }
}

function shared(): Scene {
  const stage = new Stage(true)
  const { world } = stage
  stage.tick('an empty world has a tick', () => {})
  const [own, torch] = [world.spawn(Torch, { isOwned: true }, PEER), world.spawn(Torch, {})]
  stage.tick('of a shared object every full entry says since when its owner writes it', () => {})
  stage.tick('a delta of it says nothing more than any delta', () => { torch.isLit = true })
  stage.rest(3)
  stage.tick('another owner, and since when', () => {
    world.setOwner(torch, 7)
  })
  const lost = stage.tick(
    '',
    () => {
      world.setOwner(torch, 8)
    },
    'late',
  )
  stage.tick('back to the owner before: the owner of the baseline, but a newer token', () => {
    world.setOwner(torch, 7)
  })
  stage.receive('the one between, late: it is remembered and changes nothing', lost)
  stage.tick('the server takes it back', () => {
    world.setOwner(torch)
  })
  stage.tick('and of its own object: another field set, a full entry', () => {
    world.setOwner(own)
  })
  stage.receive(
    'a writer from before the first tick',
    frameOf(60, '0001 1 01 0000000000000001 0 00 00000000 00111110 0 0'),
  )
  return { name: 'shared', entities: SHARED_FLAGS, shared: [0], frames: stage.frames }
}

/** All scenes, as the engine writes and reads them. */
export function makeScenes(): Scene[] {
  return [everyday(), gaps(), disorder(), between(), shared()]
}
