/** Interest and replication together: what is hidden sends no bit, who is in view is current, and room is shared by need. */

import { defineGame, int } from 'tickwire'
import { simulate } from 'tickwire/testing'
import { describe, expect, test } from 'vitest'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { ClientInterest } from '../../packages/tickwire/src/core/replication/interest/client-interest.ts'
import { Interest } from '../../packages/tickwire/src/core/replication/interest/interest.ts'
import { Replicator } from '../../packages/tickwire/src/core/replication/replicator.ts'
import { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import { SnapshotSource } from '../../packages/tickwire/src/core/replication/snapshot-source.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { u16, u8, vec2 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { near, owner, team } from '../../packages/tickwire/src/core/schema/interest.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'

const TICK_RATE = 30
const Soldier = entity({
  at: vec2(-1000, 1000, 0.01).position(), hp: u8, mood: u16.rate(5), ammo: u16.owner(), orders: u16.team(), plan: u16.server(), recoil: u16.local(),
}, { name: 'Soldier', interest: near(50) })
const Purse = entity({ gold: u16 }, { name: 'Purse', interest: owner })
const Flag = entity({ at: vec2(-1000, 1000, 0.01).position() }, { name: 'Flag', interest: team })
const ENTITIES = [Soldier, Purse, Flag] as const

/** An authority, and one client at the end of a line that loses packets by a rule. */
class Session {
  readonly world = new World(ENTITIES)
  readonly timeline = new Timeline(this.world, 30, TICK_RATE)
  readonly client = new ClientInterest(new Interest(this.world, ENTITIES, { teamOf: (peer) => (peer === 0 ? 0 : 1 + (peer & 1)) }), 1)
  readonly source = new SnapshotSource(new Replicator(this.world, this.timeline), this.client, 1)
  readonly told: Timeline
  readonly sink: SnapshotSink
  readonly sent: string[] = []
  bytes = 0
  packetBytes = 1150
  packetsPerTick = 8
  isLost: (sequence: number) => boolean = () => false
  #sequence = 0
  readonly #waiting: { sequence: number; isLost: boolean; at: number }[] = []

  constructor() {
    const world = new World(ENTITIES, { isReadOnly: true })
    this.told = new Timeline(world, 30)
    this.sink = new SnapshotSink(world, this.told)
  }

  tick(step: () => void): void {
    const { world, source } = this
    world.beginTick()
    step()
    world.endTick()
    this.timeline.sample()
    while (this.#waiting[0] !== undefined && this.#waiting[0].at <= world.tick) {
      const { sequence, isLost } = this.#waiting.shift()!
      if (isLost) source.onLost(0, sequence)
      else source.onDelivered(0, sequence)
    }
    source.begin()
    const out = new BitWriter(new Uint8Array(this.packetBytes))
    for (let packets = 0; packets < this.packetsPerTick; packets++) {
      out.reset(new Uint8Array(this.packetBytes))
      if (!source.fill(0, this.#sequence + 1, out)) break
      const bytes = out.bytes.slice(0, out.finish())
      const sequence = ++this.#sequence
      const isLost = this.isLost(sequence)
      this.sent.push(`${world.tick} ${Buffer.from(bytes).toString('hex')}`)
      this.bytes += bytes.length
      this.#waiting.push({ sequence, isLost, at: world.tick + 3 })
      if (!isLost) expect(this.sink.accept(0, sequence, new BitReader(bytes))).toBe('ok')
    }
  }

  /** Ids that the client holds. */
  get held(): number[] {
    return [...this.sink.held.ids].filter((id, index) => id !== 0 && this.sink.held.tellings[index]! >= 0)
  }
}

describe('interest on the wire', () => {
  test('[INT10] two matches that differ only in what a client may not see send him the same bytes', () => {
    const play = (isBusy: boolean, seed: number): Session => {
      const session = new Session()
      const { world } = session
      const dice = new Prng(seed)
      session.isLost = (sequence) => (sequence * 7919 + seed) % 10 < 3
      const body = world.spawn(Soldier, {}, 1)
      const seen = Array.from({ length: 30 }, (_, at) => world.spawn(Soldier, { at: { x: at * 4, y: 0 } }, [0, 2, 3][at % 3]!))
      const unseen = Array.from({ length: 30 }, (_, at) => world.spawn(Soldier, { at: { x: 500 + at, y: 0 } }, [0, 2, 3][at % 3]!))
      const purse = world.spawn(Purse, {}, 2)
      const flag = world.spawn(Flag, { at: { x: 5, y: 0 } }, 2)
      for (let tick = 1; tick <= 200; tick++) {
        session.tick(() => {
          body.at.x = (dice.nextInt(-4, 4) + tick) % 100
          for (const soldier of seen) {
            if (dice.nextInt(0, 2) === 0) soldier.at.y += dice.nextInt(-3, 3)
            if (dice.nextInt(0, 9) === 0) soldier.hp = dice.nextInt(0, 255)
            if (dice.nextInt(0, 2) === 0) soldier.mood = dice.nextInt(0, 999)
          }
          // Who walks out of sight for good, and what becomes of him there.
          if (tick % 20 === 0) seen[tick / 20]!.at.y = 400
          if (!isBusy) return
          if (tick % 20 === 1 && tick > 20) world.despawn(seen[(tick - 1) / 20]!)
          for (const soldier of seen) {
            soldier.plan = tick
            soldier.recoil = tick * 3
            soldier.ammo = tick
            if (soldier.owner !== 3) soldier.orders = tick
          }
          for (const soldier of unseen) {
            soldier.at.x = 400 + (soldier.at.x + tick) % 500
            soldier.hp = tick & 255
            if (tick % 50 === 0) world.setOwner(soldier, 2 + (soldier.id >>> 16) % 5)
          }
          purse.gold = tick
          flag.at.x = tick % 30
          if (tick % 37 === 0) world.despawn(unseen[tick % 30]!)
        })
      }
      return session
    }
    for (let seed = 1; seed <= 8; seed++) {
      const [calm, busy] = [play(false, seed), play(true, seed)]
      expect(calm.sent.length).toBeGreaterThan(100)
      const first = calm.sent.findIndex((packet, at) => packet !== busy.sent[at])
      expect([seed, first, busy.sent[first]]).toEqual([seed, -1, undefined])
      expect(busy.sent.length).toBe(calm.sent.length)
    }
  })

  test('[INT3, INT4] across borders, births and losses: once the weather clears the client holds who is in view, as they are', () => {
    for (let seed = 1; seed <= 6; seed++) {
      const session = new Session()
      const { world, client } = session
      const dice = new Prng(seed)
      const body = world.spawn(Soldier, {}, 1)
      let [entered, left] = [0, 0]
      for (let tick = 1; tick <= 300; tick++) {
        session.isLost = (sequence) => tick < 270 && (sequence * 31 + seed) % 3 === 0
        session.tick(() => {
          if (tick >= 290) return
          body.at.x = Math.abs((tick * 2) % 400 - 200)
          for (const soldier of world.each(Soldier)) {
            if (soldier.owner !== 1) soldier.at.y += dice.nextInt(-5, 5)
            if (soldier.owner !== 1 && dice.nextInt(0, 40) === 0) world.despawn(soldier)
          }
          if (dice.nextInt(0, 1) === 0) world.spawn(Soldier, { at: { x: dice.nextInt(0, 200), y: dice.nextInt(-60, 60) } }, dice.nextInt(0, 1) * 2)
        })
        entered += client.enteredCount
        left += client.leftCount
      }
      expect(Math.min(entered, left)).toBeGreaterThan(50)
      expect(session.held).toEqual([...client.ids.subarray(0, client.count)])
      for (const id of session.held) {
        expect(session.told.read(Soldier, id, session.told.changedAt(id), 'at')).toEqual(session.timeline.read(Soldier, id, world.tick, 'at'))
      }
    }
  })

  /** How often each of a row of soldiers was told of, the nearest first, in 10 s of a line with little room. */
  function rates(count: number): { told: number[]; bytes: number; gapMax: number } {
    const session = new Session()
    session.packetBytes = 300
    session.packetsPerTick = 1
    const { world } = session
    world.spawn(Soldier, {}, 1)
    const soldiers = Array.from({ length: count }, (_, at) => world.spawn(Soldier, { at: { x: 1 + 48 * at / count, y: 0 } }))
    const [told, last] = [soldiers.map(() => 0), soldiers.map(() => 0)]
    let gapMax = 0
    for (let tick = 1; tick <= 300; tick++) {
      session.tick(() => { for (const soldier of soldiers) soldier.hp = (soldier.hp + 1) & 255 })
      soldiers.forEach(({ id }, at) => {
        if (session.told.changedAt(id) === tick) {
          told[at]!++
          last[at] = tick
        }
        gapMax = Math.max(gapMax, tick - last[at]!)
      })
    }
    return { told, bytes: session.bytes, gapMax }
  }

  test('[INT9] twice the objects: the same bytes, lower rates, near ones first, and nobody starves', () => {
    const [few, many] = [rates(400), rates(800)]
    const mean = (list: number[]): number => list.reduce((sum, value) => sum + value, 0) / list.length
    for (const { told } of [few, many]) {
      const [nearest, farthest] = [mean(told.slice(0, told.length / 10)), mean(told.slice(-told.length / 10))]
      expect(nearest / farthest).toBeGreaterThan(3)
      expect(Math.min(...told)).toBeGreaterThan(2)
    }
    // Not to the byte: gaps between indexes are wider where fewer of more are told of.
    expect(Math.abs(many.bytes / few.bytes - 1)).toBeLessThan(0.1)
    expect(mean(many.told) / mean(few.told)).toBeGreaterThan(0.3)
    expect(mean(many.told) / mean(few.told)).toBeLessThan(0.7)
    expect(few.gapMax).toBeLessThan(60)
    expect(many.gapMax).toBeLessThan(120)
  })
})

test('[INT3, INT5, INT8] a whole match: players walk out of each other\'s sight and back, a spectator sees through the eyes of whom he follows', () => {
  const Walker = entity({ at: vec2(-400, 400, 0.1).position(), ammo: u8.owner() }, { name: 'Walker', interest: near(50) })
  const game = defineGame({
    tickRate: 30,
    input: { x: int(-1, 1) },
    entities: [Walker],
    // The third is here to watch.
    onJoin: (world, peer) => { if (world.count(Walker) < 2) world.spawn(Walker, { at: { x: 0, y: 0 }, ammo: 7 }, peer) },
    step(world, inputs) {
      for (const walker of world.each(Walker)) walker.at.x += 4 * inputs.of(walker.owner).x
    },
  })
  const match = simulate(game, { seed: 5, clients: 3, link: { latencyMs: 40, jitterMs: 20, loss: 0.1 } })
  const [first, second, third] = match.players.map(({ host }) => match.host.peers.find(({ id }) => id === host.predictor?.peer))
  const counts = (): number[] => [0, 1, 2].map((client) => match.client(client, Walker).length)
  match.run(1000)
  expect(counts()).toEqual([2, 2, 0])
  match.host.follow(third!, first!)
  match.hold(1, { x: 1 })
  match.run(2000)
  expect(counts()).toEqual([1, 1, 1])
  expect(match.client(2, Walker)[0]).toMatchObject({ owner: first!.id, ammo: 7 })
  match.host.follow(third!, second!)
  match.run(1000)
  expect(match.client(2, Walker)[0]).toMatchObject({ owner: second!.id, ammo: 7 })
  match.hold(1, { x: -1 })
  match.run(2600)
  match.hold(1, { x: 0 })
  match.run(1000)
  expect(counts()).toEqual([2, 2, 2])
  expect(match.client(0, Walker).find(({ owner: peer }) => peer === second!.id)?.ammo).toBe(0)
  match.host.follow(third!, third!)
  match.run(1000)
  // He looks from where he last did; the owner's fields are nobody's of his any more.
  expect(match.client(2, Walker).map(({ ammo }) => ammo)).toEqual([0, 0])
})
