/**
 * Interest and replication together: no bit of hidden objects is sent, objects in view are current, and bandwidth is
 * shared by urgency.
 */

import { bool, defineGame, int, ref, type Peer } from 'tickwire'
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
const Soldier = entity(
  {
    at: vec2(-1000, 1000, 0.01).position(),
    hp: u8,
    mood: u16.rate(5),
    ammo: u16.owner(),
    orders: u16.team(),
    plan: u16.server(),
    recoil: u16.local(),
  },
  { name: 'Soldier', interest: near(50) },
)
const Purse = entity({ gold: u16 }, { name: 'Purse', interest: owner })
const Flag = entity({ at: vec2(-1000, 1000, 0.01).position() }, { name: 'Flag', interest: team })
const ENTITIES = [Soldier, Purse, Flag] as const

/** An authority, and one client on a link that loses packets by a rule. */
class Session {
  readonly world = new World(ENTITIES)
  readonly timeline = new Timeline(this.world, 30, TICK_RATE)
  readonly client = new ClientInterest(
    new Interest(this.world, ENTITIES, { teamOf: (peer) => (peer === 0 ? 0 : 1 + (peer & 1)) }),
    1,
  )
  readonly source = new SnapshotSource(new Replicator(this.world, this.timeline), this.client, 1)
  readonly received: Timeline
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
    this.received = new Timeline(world, 30)
    this.sink = new SnapshotSink(world, this.received)
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
    return [...this.sink.held.ids].filter((id, index) => id !== 0 && this.sink.held.receivedAt[index]! >= 0)
  }
}

describe('interest on the wire', () => {
  test('[INT10] two matches that differ only in what a client may not see send it the same bytes', () => {
    const play = (isBusy: boolean, seed: number): Session => {
      const session = new Session()
      const { world } = session
      const dice = new Prng(seed)
      session.isLost = (sequence) => (sequence * 7919 + seed) % 10 < 3
      const body = world.spawn(Soldier, {}, 1)
      const seen = Array.from({ length: 30 }, (_, at) =>
        world.spawn(Soldier, { at: { x: at * 4, y: 0 } }, [0, 2, 3][at % 3]!),
      )
      const unseen = Array.from({ length: 30 }, (_, at) =>
        world.spawn(Soldier, { at: { x: 500 + at, y: 0 } }, [0, 2, 3][at % 3]!),
      )
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
          // Objects that leave the view for good, and change afterwards.
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

  test('[INT3, INT4] after losses, spawns and moves, the client holds exactly the objects in view', () => {
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
          if (dice.nextInt(0, 1) === 0)
            world.spawn(Soldier, { at: { x: dice.nextInt(0, 200), y: dice.nextInt(-60, 60) } }, dice.nextInt(0, 1) * 2)
        })
        entered += client.enteredCount
        left += client.leftCount
      }
      expect(Math.min(entered, left)).toBeGreaterThan(50)
      expect(session.held).toEqual([...client.ids.subarray(0, client.count)])
      for (const id of session.held) {
        expect(session.received.read(Soldier, id, session.received.changedAt(id), 'at')).toEqual(
          session.timeline.read(Soldier, id, world.tick, 'at'),
        )
      }
    }
  })

  /** How often each soldier of a line was sent, the nearest first, in 10 s on a narrow link. */
  function rates(count: number): { received: number[]; bytes: number; gapMax: number } {
    const session = new Session()
    session.packetBytes = 300
    session.packetsPerTick = 1
    const { world } = session
    world.spawn(Soldier, {}, 1)
    const soldiers = Array.from({ length: count }, (_, at) =>
      world.spawn(Soldier, { at: { x: 1 + (48 * at) / count, y: 0 } }),
    )
    const [received, last] = [soldiers.map(() => 0), soldiers.map(() => 0)]
    let gapMax = 0
    for (let tick = 1; tick <= 300; tick++) {
      session.tick(() => { for (const soldier of soldiers) soldier.hp = (soldier.hp + 1) & 255 })
      soldiers.forEach(({ id }, at) => {
        if (session.received.changedAt(id) === tick) {
          received[at]!++
          last[at] = tick
        }
        gapMax = Math.max(gapMax, tick - last[at]!)
      })
    }
    return { received, bytes: session.bytes, gapMax }
  }

  test('[INT9] twice the objects: the same bytes, lower rates, near ones first, and every object is sent', () => {
    const [few, many] = [rates(400), rates(800)]
    const mean = (list: number[]): number => list.reduce((sum, value) => sum + value, 0) / list.length
    for (const { received } of [few, many]) {
      const tenth = received.length / 10
      const [nearest, farthest] = [mean(received.slice(0, tenth)), mean(received.slice(-tenth))]
      expect(nearest / farthest).toBeGreaterThan(3)
      expect(Math.min(...received)).toBeGreaterThan(2)
    }
    // Not equal to the byte: gaps between indexes are wider where a smaller share is sent.
    expect(Math.abs(many.bytes / few.bytes - 1)).toBeLessThan(0.1)
    expect(mean(many.received) / mean(few.received)).toBeGreaterThan(0.3)
    expect(mean(many.received) / mean(few.received)).toBeLessThan(0.7)
    expect(few.gapMax).toBeLessThan(60)
    expect(many.gapMax).toBeLessThan(120)
  })
})

test("[INT3, INT5, INT8] players leave and enter each other's view; a spectator has the view of another player", () => {
  const Walker = entity(
    { at: vec2(-400, 400, 0.1).position(), ammo: u8.owner() },
    { name: 'Walker', interest: near(50) },
  )
  const game = defineGame({
    tickRate: 30,
    input: { x: int(-1, 1) },
    entities: [Walker],
    // The third is a spectator.
    onJoin: (world, peer) => {
      if (world.count(Walker) < 2) world.spawn(Walker, { at: { x: 0, y: 0 }, ammo: 7 }, peer)
    },
    step(world, inputs) {
      for (const walker of world.each(Walker)) walker.at.x += 4 * inputs.of(walker.owner).x
    },
  })
  const match = simulate(game, { seed: 5, clients: 3, link: { latencyMs: 40, jitterMs: 20, loss: 0.1 } })
  const peerOf = (client: number): Peer =>
    match.host.peers.find(({ id }) => id === match.players[client]!.host.predictor?.peer)!
  const counts = (): number[] => order.map((client) => match.client(client, Walker).length)
  // The weather decides in which order clients join: the two that have a walker first, then the spectator.
  let order = [0, 1, 2]
  const hasWalker = (client: number): boolean => match.server(Walker).some(({ owner }) => owner === peerOf(client).id)
  match.run(1000)
  order = order.sort((a, b) => Number(hasWalker(b)) - Number(hasWalker(a)))
  const [first, second, third] = order.map(peerOf)
  expect(counts()).toEqual([2, 2, 0])
  match.host.follow(third!, first!)
  match.hold(order[1]!, { x: 1 })
  match.run(2000)
  expect(counts()).toEqual([1, 1, 1])
  expect(match.client(order[2]!, Walker)[0]).toMatchObject({ owner: first!.id, ammo: 7 })
  match.host.follow(third!, second!)
  match.run(1000)
  expect(match.client(order[2]!, Walker)[0]).toMatchObject({ owner: second!.id, ammo: 7 })
  match.hold(order[1]!, { x: -1 })
  match.run(2600)
  match.hold(order[1]!, { x: 0 })
  match.run(1000)
  expect(counts()).toEqual([2, 2, 2])
  expect(match.client(order[0]!, Walker).find(({ owner: peer }) => peer === second!.id)?.ammo).toBe(0)
  match.host.follow(third!, third!)
  match.run(1000)
  // The spectator looks from its last position, and sees no owner's fields any more.
  expect(match.client(order[2]!, Walker).map(({ ammo }) => ammo)).toEqual([0, 0])
})

test('[SCHEMA21, INT4] a reference to an object out of view is null, and resolves when it is back', () => {
  const Gate = entity({ at: vec2(-400, 400, 0.1).position() }, { name: 'Gate', interest: near(50) })
  const Lever = entity({ at: vec2(-400, 400, 0.1).position(), gate: ref() }, { name: 'Lever' })
  const game = defineGame({
    tickRate: 30, input: { go: bool }, entities: [Gate, Lever], predict: 'none', step: () => {},
    onJoin(world, peer) {
      const gate = world.spawn(Gate, { at: { x: 10, y: 0 } })
      world.spawn(Lever, { gate: gate.id }, peer)
    },
  })
  const sim = simulate(game, { seed: 8, link: { latencyMs: 20 } })
  const seen = (): (number | null)[] => {
    sim.run(1000)
    const view = sim.players[0]!.host.draw(sim.clock.now)
    const [lever] = [...view.each(Lever)]
    return [lever!.gate, view.get(Gate, lever!.gate)?.at.x ?? null]
  }
  const [gate] = sim.server(Gate)
  expect(seen()).toEqual([gate!.id, 10])
  gate!.at.x = 300
  expect(seen()).toEqual([null, null])
  gate!.at.x = 20
  expect(seen()).toEqual([gate!.id, 20])
})
