/**
 * One match, two wires: two clients of Tickwire and two R-Type clients play the shooter. The test presses keys and
 * loses datagrams; it changes nothing in the world.
 */

import { expect, test, vi } from 'vitest'
import { simulate } from 'tickwire/testing'
import {
  BOSS, Enemy, Force, FORCE_DETACHED, FORCE_FRONT, Pilot, Powerup, ROCK, Ship, Shot, STICK, type input,
} from '../../games/shmup/definitions.ts'
import { shmupGame } from '../../games/shmup/game.ts'
import { RtypeDoor, type RtypeSender } from '../../games/shmup/rtype-door.ts'
import { RtypeServer } from '../../packages/tickwire/src/core/rtype-session/server.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { form } from '../form.ts'
import { ReferenceClient } from '../reference/rtype-client.ts'
import { ReferencePilot } from '../reference/rtype-pilot.ts'
import type { JsonObject } from '../reference/rtype-checker.ts'
import { PACKET_STRUCTS } from '../reference/rtype-structs.ts'

const LOSS = 0.1
const NAMES = new Map(PACKET_STRUCTS.map(({ code, name }) => [code, name]))
const STEP_MS = 20

type Sim = ReturnType<typeof simulate<typeof input>>

/** A match with an R-Type server and a network that loses datagrams. All players use the same pilot. */
class Stage {
  readonly sim: Sim
  readonly clients = new Map<string, ReferenceClient>()
  /** The names of all packets that were sent. */
  readonly names = new Set<string>()
  readonly #server = new RtypeServer({ maxPlayers: 2, tickRate: 60 }, new Dice(8))
  readonly #dice: Dice
  readonly #door: RtypeDoor
  readonly #pilots = new Map<ReferenceClient, ReferencePilot>()
  now = 0

  constructor(sim: Sim, seed: number) {
    this.sim = sim
    this.#dice = new Dice(seed)
    const sender: RtypeSender = {
      send: (peer, packet) => { this.#server.send(this.now, peer, packet) },
      kick: (peer) => this.#server.kick(this.now, peer),
    }
    this.#door = new RtypeDoor(sim.host, sender)
  }

  connect(address: string, name: string, clientId: number, isReckless: boolean = false): ReferenceClient {
    const client = this.connectIdle(address, name, clientId)
    this.#pilots.set(client, new ReferencePilot(isReckless))
    return client
  }

  /** A client whose keys the test presses. */
  connectIdle(address: string, name: string, clientId: number): ReferenceClient {
    const client = new ReferenceClient(name, clientId)
    this.clients.set(address, client)
    return client
  }

  /** Runs for a time, or until `isOver`. */
  run(ms: number, isOver: () => boolean = () => false): void {
    const { sim } = this
    for (const end = this.now + ms; this.now < end && !isOver(); this.now += STEP_MS) {
      this.#press()
      for (const [address, client] of this.clients) {
        for (const bytes of client.poll(this.now)) {
          if (!this.#isLost(bytes)) this.#server.handleDatagram(this.now, address, bytes, bytes.length)
        }
      }
      for (let event = this.#server.poll(); event !== undefined; event = this.#server.poll()) this.#door.handle(event)
      sim.run(STEP_MS)
      this.#server.drain(this.now, (to, bytes, length) => {
        const datagram = bytes.slice(0, length)
        if (!this.#isLost(datagram)) this.clients.get(to)?.handle(this.now, datagram)
      })
    }
  }

  /** Notes a datagram, and draws whether it is lost. */
  #isLost(bytes: Uint8Array): boolean {
    this.names.add(NAMES.get(bytes[2]!)!)
    return this.#dice.chance(LOSS)
  }

  #press(): void {
    let place = 0
    for (const client of this.sim.players.keys()) {
      const pilot = new ReferencePilot()
      const put = (id: number, type: number, { x, y }: { x: number; y: number }): unknown =>
        pilot.things.set(id, { type, x, y })
      for (const enemy of this.sim.client(client, Enemy)) {
        put(enemy.id, enemy.kind === BOSS ? 3 : enemy.kind === ROCK ? 7 : 2, enemy)
      }
      for (const shot of this.sim.client(client, Shot)) put(shot.id, shot.by === 0 ? 5 : 4, shot)
      for (const powerup of this.sim.client(client, Powerup)) put(powerup.id, 6, powerup)
      const own = this.sim.client(client, Ship).find(({ owner }) => owner === this.sim.players[client]!.host.peer)
      if (own?.isUp === true) put(0, 1, own)
      const bits = pilot.press(0, place++, this.now)
      const has = (bit: number): number => Number((bits & bit) !== 0)
      this.sim.hold(client, {
        side: (has(8) - has(4)) * STICK, rise: (has(2) - has(1)) * STICK, fire: has(16) === 1, charge: has(32) === 1,
        special: has(64) === 1,
      })
    }
    for (const [client, pilot] of this.#pilots) {
      pilot.follow(client.received)
      client.input = pilot.press(client.playerId, place++ % 4, this.now)
    }
  }
}

function entriesOf({ entries }: JsonObject): readonly JsonObject[] | undefined {
  return entries as readonly JsonObject[] | undefined
}

vi.setConfig({ testTimeout: 300_000 })

const SEEDS = form([30], [30, 31, 32, 33, 34])

test.each(SEEDS)('[SHMUP5] over 10 % loss they win, and all 36 packets arise (seed %i)', (seed) => {
  // Without the checks of development mode, which take a fifth of the time.
  const sim = simulate(shmupGame(), { seed, clients: 2, onWarning: false })
  const stage = new Stage(sim, seed)
  const { names, clients } = stage
  const ada = stage.connect('203.0.113.1:1', 'Ada', 11)
  stage.connect('203.0.113.2:1', 'Bo', 12, true)
  stage.run(2000)
  expect(sim.server(Pilot).map(({ name }) => name).sort()).toEqual(['Ada', 'Bo', 'Player 1', 'Player 2'])

  // A third R-Type client finds no seat, and a client that moves to another address keeps its ship.
  const eve = stage.connect('203.0.113.3:1', 'Eve', 13)
  const [before] = sim.server(Pilot).filter(({ name }) => name === 'Bo')
  clients.delete('203.0.113.2:1')
  const bo = stage.connect('203.0.113.9:7', 'Bo', 12, true)
  stage.run(3000)
  // Three answers in three seconds may all be lost. A client asks for ten seconds.
  stage.run(7000, () => eve.state === 'rejected')
  expect(eve.packets('SERVER_REJECT')).toHaveLength(1)
  expect(bo.packets('ENTITY_FULL_STATE').length).toBeGreaterThan(2)
  expect(sim.server(Pilot).filter(({ name }) => name === 'Bo').map(({ peer }) => peer)).toEqual([before!.peer])

  stage.run(400_000, () => ada.packets('GAME_END').length > 0)
  stage.run(1000)
  for (const client of [ada, bo]) {
    expect(client.broken).toBe(0)
    expect(client.packets('LEVEL_COMPLETE').map((each) => each['completed_level']).sort()).toEqual([1, 2, 3])
    // 255: there is no next level.
    expect(client.packets('LEVEL_COMPLETE').map((each) => each['next_level']).sort()).toEqual([2, 255, 3])
    const { player_count: count, player_ids: ids } = client.packets('GAME_START').at(-1)! as {
      player_count: number; player_ids: number[]
    }
    expect([ids.length, ids.filter((id) => id !== 0).length]).toEqual([4, count])
    expect(ids).toContain(client.playerId)
    expect(client.packets('LEVEL_START').every((each) => String(each['level_name']).length > 3)).toBe(true)
    const end = client.packets('GAME_END').at(-1)!
    expect(end).toMatchObject({ end_reason: 0 })
    // The winner is the player with the highest score.
    const scores = end['final_scores'] as unknown as number[]
    expect(scores[Number(end['winner_id'])]).toBe(Math.max(...scores))
    expect(Number(end['play_time'])).toBeGreaterThan(60)
    expect(client.packets('TRANSFORM_SNAPSHOT').length).toBeGreaterThan(500)
  }
  // Every value of the enumerations arose, too.
  const values = (name: string, field: string): number[] => {
    const packets = [ada, bo].flatMap((client) => client.packets(name))
    const found = packets.flatMap((each) => entriesOf(each) ?? [each]).map((each) => Number(each[field]))
    return [...new Set(found)].sort((one, other) => one - other)
  }
  expect(values('ENTITY_SPAWN', 'entity_type')).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(values('ENTITY_DESTROY', 'destroy_reason')).toEqual([0, 1, 2, 3, 4])
  expect(values('SCORE_UPDATE', 'reason')).toEqual([0, 1, 2, 3, 4, 5])
  expect(values('POWERUP_PICKUP', 'powerup_type')).toEqual([0, 1, 2, 3, 4, 5])
  expect(values('FORCE_STATE', 'attachment_point')).toEqual(expect.arrayContaining([0, 1, 3]))
  expect(values('AI_SNAPSHOT', 'behavior_type')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  for (const client of clients.values()) client.leave(stage.now)
  stage.run(1500)
  expect(sim.server(Pilot)).toHaveLength(2)
  expect(PACKET_STRUCTS.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([])
})

test('[SHMUP9] every input bit of the protocol does what its name says', () => {
  const sim = simulate(shmupGame(), { seed: 3, clients: 1, onWarning: false })
  const stage = new Stage(sim, 3)
  const ada = stage.connectIdle('203.0.113.1:1', 'Ada', 11)
  stage.run(2000)
  const { peer } = sim.server(Pilot).find(({ name }) => name === 'Ada')!
  const own = (): { x: number; y: number } => {
    const { x, y } = sim.server(Ship).find(({ owner }) => owner === peer)!
    return { x, y }
  }
  const shots = (): number => sim.server(Shot).filter(({ by }) => by === peer).length
  /** How far the ship moves in 300 ms with these bits. */
  const press = (bits: number): { dx: number; dy: number } => {
    const before = own()
    ada.input = bits
    stage.run(300)
    const after = own()
    ada.input = 0
    stage.run(300)
    return { dx: Math.round(after.x - before.x), dy: Math.round(after.y - before.y) }
  }
  const moves = [0x08, 0x04, 0x02, 0x01].map((bit) => press(bit))
  expect(moves.map(({ dx, dy }) => [Math.sign(dx), Math.sign(dy)])).toEqual([[1, 0], [-1, 0], [0, 1], [0, -1]])
  expect(press(0xff80)).toEqual({ dx: 0, dy: 0 })
  expect(shots()).toBe(0)
  ada.input = 0x10
  stage.run(500)
  expect(shots()).toBeGreaterThan(1)
  ada.input = 0x20
  stage.run(500)
  expect(sim.server(Pilot).find((pilot) => pilot.peer === peer)!.charge).toBeGreaterThan(20)
  ada.input = 0
  stage.run(300)
  expect(sim.server(Pilot).find((pilot) => pilot.peer === peer)!.charge).toBe(0)
  sim.host.world.spawn(Force, { ...own(), peer, mode: FORCE_FRONT, level: 1 })
  ada.input = 0x40
  stage.run(300)
  expect(sim.server(Force).map(({ mode }) => mode)).toEqual([FORCE_DETACHED])
})
