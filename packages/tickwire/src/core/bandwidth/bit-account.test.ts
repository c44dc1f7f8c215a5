import { describe, expect, test } from 'vitest'
import { BitWriter } from '../bits/bit-writer.ts'
import { PackedCoder } from '../codec/packed-coder.ts'
import { RowPair } from '../codec/row-coder.ts'
import { entity } from '../schema/definition.ts'
import { bool, deltaStruct, fixed, group, quat, text, u16, u8, vec3 } from '../schema/field-kinds.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import { BitAccount } from './bit-account.ts'
import { FieldMeter, recentFieldBits } from './bit-account-fields.ts'
import { AllRelevant } from '../replication/interest/all-relevant.ts'
import { Replicator } from '../replication/replicator.ts'
import { SnapshotSource } from '../replication/snapshot-source.ts'

const Player = entity(
  { place: vec3(-100, 100, 0.01), hp: u8, name: text(20), isUp: bool, plan: u16.owner() },
  { name: 'Player' },
)
const Rock = entity({ size: u8 }, { name: 'Rock' })

/** A world, some clients, and their frames; `deliver` says which of them arrive. */
class Stage {
  readonly world = new World([Player, Rock])
  readonly timeline = new Timeline(this.world, 32)
  readonly replicator = new Replicator(this.world, this.timeline)
  readonly account = new BitAccount(this.world)
  readonly sources: SnapshotSource[]
  readonly #out = new BitWriter(new Uint8Array(1200))
  bits = 0
  frames = 0
  #sequence = 0

  constructor(clients: number) {
    this.replicator.probe = this.account
    this.sources = Array.from(
      { length: clients },
      (_, at) => new SnapshotSource(this.replicator, new AllRelevant(this.world, at + 1), at + 1),
    )
  }

  tick(play: () => void, deliver: (client: number) => boolean): void {
    this.world.beginTick()
    play()
    this.world.endTick()
    this.timeline.sample()
    this.sources.forEach((source, client) => {
      source.begin()
      const sequence = ++this.#sequence
      this.#out.reset(this.#out.bytes)
      if (!source.fill(0, sequence, this.#out)) return
      this.bits += this.#out.finish() * 8
      this.frames++
      if (deliver(client)) source.onDelivered(0, sequence)
      else source.onLost(0, sequence)
    })
  }
}

describe('an account', () => {
  test('[BAND1] accounts for every bit that was sent, by client, by entity, by object and by reason', () => {
    const stage = new Stage(3)
    const { world, account } = stage
    stage.tick(() => {
      for (const owner of [1, 2, 3]) world.spawn(Player, { hp: 9, name: `p${owner}` }, owner)
      world.spawn(Rock, { size: 3 })
    }, () => true)
    stage.replicator.settle()
    const entered = account.report()
    expect(entered.reasons).toMatchObject({ entered: entered.bits - entered.headBits, changed: 0, lost: 0, gone: 0 })
    for (let tick = 0; tick < 20; tick++)
      stage.tick(
        () => {
          for (const player of world.each(Player)) player.place.x += 0.5
        },
        () => tick % 4 !== 3,
      )
    stage.tick(
      () => {
        for (const rock of world.each(Rock)) world.despawn(rock)
      },
      () => true,
    )
    stage.replicator.settle()
    const report = account.report()
    expect(report.bits).toBe(stage.bits)
    expect([report.firstTick, report.lastTick]).toEqual([1, 22])
    expect(report.clients.map(({ peer }) => peer)).toEqual([1, 2, 3])
    expect(report.clients.reduce((sum, { frames }) => sum + frames, 0)).toBe(stage.frames)
    expect(report.clients.reduce((sum, { entryBits, headBits }) => sum + entryBits + headBits, 0)).toBe(stage.bits)
    expect(report.entities.map(({ name }) => name)).toEqual(['Player', 'Rock'])
    expect(report.headBits + report.entities.reduce((sum, { bits }) => sum + bits, 0)).toBe(stage.bits)
    expect(report.headBits + report.objects.reduce((sum, { bits }) => sum + bits, 0)).toBe(stage.bits)
    expect(Object.values(report.reasons).reduce((sum, bits) => sum + bits, report.headBits)).toBe(stage.bits)
    for (const reason of ['changed', 'lost', 'gone'] as const) expect(report.reasons[reason], reason).toBeGreaterThan(0)
    expect(report.entities[1]!.reasons).toMatchObject({ changed: 0, lost: 0, gone: expect.any(Number) })
    account.reset()
    expect(account.report()).toMatchObject({ bits: 0, clients: [], objects: [], firstTick: -1 })
  })

  test('[BAND1] accounts for bits that were sent with retired tables', () => {
    const stage = new Stage(2)
    const { world, account, replicator, sources } = stage
    stage.tick(() => { for (let count = 0; count < 12; count++) world.spawn(Player, {}) }, () => true)
    const move = (): void => { for (const player of world.each(Player)) player.place.x += 0.5 }
    for (let tick = 0; tick < 6; tick++) stage.tick(move, () => true)
    const others = replicator.retrained(replicator.coders)
    sources[0]!.retrain(others, 1)
    for (let tick = 0; tick < 6; tick++) stage.tick(move, () => true)
    sources[0]!.retrain(replicator, 0)
    others.retire()
    replicator.settle()
    expect(account.report().bits).toBe(stage.bits)
    expect(account.report().entities.reduce((sum, { bits }) => sum + bits, 0)).toBe(
      stage.bits - account.report().headBits,
    )
    expect(Object.values(account.report().reasons).reduce((sum, bits) => sum + bits, account.report().headBits)).toBe(
      stage.bits,
    )
  })

  test('[BAND1] has room for any number of clients and objects', () => {
    const account = new BitAccount(new World([Player, Rock]))
    for (let client = 1; client <= 300; client++) {
      account.onEntry(client, client * 200, 1, 0, 10)
      account.onFrame(client, 5, 8, 10)
    }
    const report = account.report()
    expect(account.report((peer) => (peer === 300 ? 100 : 5))).toMatchObject({ bits: 300 * 18, otherBits: 82 })
    expect([report.bits, report.clients.length, report.objects.length]).toEqual([300 * 18, 300, 20])
    expect(report.clients[299]).toEqual({ peer: 300, frames: 1, entryBits: 10, headBits: 8, otherBits: 0 })
  })
})

describe('the meter of fields', () => {
  test('[BAND2] a field costs what a delta without it would save, and all of them with the mask make the delta', () => {
    const Thing = entity({
      a: u8,
      v: vec3(-9, 9, 0.1),
      q: quat(6),
      g: group({ h: u8 }),
      d: deltaStruct({ m: u8, n: u8 }),
      t: text(9),
      f: bool,
      x: fixed(0, 9, 0.5),
    })
    const world = new World([Thing])
    const thing = world.spawn(Thing, {})
    world.sample()
    const { schema, rows } = world.stores[0]!
    const base = rows.slice(schema.laneCount, 2 * schema.laneCount)
    thing.a = 7
    thing.v.y = 3
    thing.q = { x: 1, y: 0, z: 0, w: 1 }
    thing.g = { h: 3 }
    thing.d.n = 9
    thing.t = 'hello'
    thing.f = true
    world.sample()
    const meter = new FieldMeter(schema, new PackedCoder(schema), 0, world.heap)
    const pair = new RowPair()
    Object.assign(pair, { rows, at: schema.laneCount, baseRows: base, baseAt: 0, age: 3 })
    const out = new BitWriter(new Uint8Array(200))
    new PackedCoder(schema).write(out, 0, pair, world.heap)
    expect(meter.add(pair)).toBe(out.bitLength)
    expect(meter.sharedBits).toBe(schema.members.length)
    expect(meter.bits.reduce((sum, bits) => sum + bits, meter.sharedBits)).toBe(out.bitLength)
    const by = Object.fromEntries(meter.members.map(({ name }, at) => [name, [meter.bits[at], meter.changes[at]]]))
    expect(by).toMatchObject({ t: [48, 1], f: [0, 1], x: [0, 0] })
    for (const name of ['a', 'v', 'q', 'g', 'd']) expect(by[name]![0], name).toBeGreaterThan(0)
  })

  test('[BAND2] a running world reports which fields cost most recently', () => {
    const stage = new Stage(1)
    stage.tick(() => { for (const owner of [1, 2]) stage.world.spawn(Player, {}, owner) }, () => true)
    for (let tick = 0; tick < 40; tick++) {
      stage.tick(() => {
        for (const player of stage.world.each(Player)) {
          player.place.x += 0.7
          if (tick % 5 === 0) player.hp++
        }
      }, () => true)
    }
    const fields = recentFieldBits(stage.world, stage.timeline, stage.replicator.coders, 3)
    expect(fields.map(({ path }) => path)).toEqual(['Player.place', 'Player.hp'])
    expect(fields[0]!.changes).toBe(2 * 29)
    expect(recentFieldBits(stage.world, new Timeline(stage.world, 4), stage.replicator.coders, 3)).toEqual([])
  })
})
