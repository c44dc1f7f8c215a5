/** One match, two wires: two clients of Tickwire and two R-Type clients play a level of the shooter to its end. */

import { expect, test, vi } from 'vitest'
import { simulate } from 'tickwire/testing'
import { Pilot, Powerup, Ship, type input } from '../../games/shmup/definitions.ts'
import { shmupGame } from '../../games/shmup/game.ts'
import { RtypeDoor } from '../../games/shmup/rtype-door.ts'
import { RtypeServer } from '../../packages/tickwire/src/core/rtype-session/server.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { ReferenceClient } from '../reference/rtype-client.ts'
import { form } from '../form.ts'
import { PACKET_STRUCTS } from '../reference/rtype-structs.ts'

const LOSS = 0.1
const NAMES = new Map(PACKET_STRUCTS.map(({ code, name }) => [code, name]))
const STEP_MS = 20
const [FIRE, UP, DOWN, RIGHT, SPECIAL] = [0x10, 0x01, 0x02, 0x08, 0x40]

type Sim = ReturnType<typeof simulate<typeof input>>

/** The R-Type side of a match: a server, two clients, and a network that loses datagrams. */
function stage(sim: Sim): {
  clients: Map<string, ReferenceClient>
  all: ReferenceClient[]
  names: Set<string>
  run(ms: number): void
  now(): number
} {
  const server = new RtypeServer({ maxPlayers: 2, tickRate: 60 }, new Dice(8))
  const dice = new Dice(9)
  const names = new Set<string>()
  let now = 0
  const door = new RtypeDoor(
    sim.host,
    { send: (peer, packet) => server.send(now, peer, packet), kick: (peer) => server.kick(now, peer) },
    () => now,
  )
  const clients = new Map<string, ReferenceClient>([
    ['203.0.113.1:1', new ReferenceClient('Ada', 11)], ['203.0.113.2:1', new ReferenceClient('Bo', 12)],
  ])
  const all = [...clients.values()]
  /** Notes a datagram, and returns whether it is lost. */
  const note = (bytes: Uint8Array): boolean => {
    names.add(NAMES.get(bytes[2]!)!)
    return dice.chance(LOSS)
  }
  const run = (ms: number): void => {
    for (const end = now + ms; now < end; now += STEP_MS) {
      for (const [address, client] of clients) {
        for (const bytes of client.poll(now)) if (!note(bytes)) server.handleDatagram(now, address, bytes, bytes.length)
      }
      for (let event = server.poll(); event !== undefined; event = server.poll()) door.handle(event)
      sim.run(STEP_MS)
      server.drain(now, (to, bytes, length) => {
        const datagram = bytes.slice(0, length)
        if (!note(datagram)) clients.get(to)?.handle(now, datagram)
      })
    }
  }
  return { clients, all, names, run, now: () => now }
}

vi.setConfig({ testTimeout: 300_000 })

test('[SHMUP5] over 10 % loss they finish the last level together, and all 36 packets arise', () => {
  // The short form leaves out most of the waves.
  const sim = simulate(shmupGame(3, form(46, 0)), { seed: 30, clients: 2 })
  const { clients, all, names, run, now } = stage(sim)
  run(1200)
  expect(sim.server(Pilot).map(({ name }) => name).sort()).toEqual(['Ada', 'Bo', 'Player 1', 'Player 2'])
  all[0]!.input = DOWN
  run(600)
  // A third R-Type client finds no seat, and a client that moved to another address keeps its own.
  clients.set('203.0.113.3:1', new ReferenceClient('Eve', 13))
  clients.delete('203.0.113.2:1')
  const again = new ReferenceClient('Bo', 12)
  clients.set('203.0.113.9:7', again)
  all.push(again)
  for (let kind = 0; kind < 6; kind++) {
    const { x, y } = sim.server(Ship)[kind % 4]!
    sim.host.world.spawn(Powerup, { x, y, kind, baseY: y, bornAt: sim.host.world.tick })
  }
  run(1600)
  expect(again.packets('ENTITY_FULL_STATE').length).toBeGreaterThan(2)
  expect(clients.get('203.0.113.3:1')!.packets('SERVER_REJECT')).toHaveLength(1)

  for (let second = 0; second < 150 && again.packets('GAME_END').length === 0; second++) {
    const way = second % 4 < 2 ? DOWN : UP
    const isDaring = second > 1 && !names.has('PLAYER_DEATH')
    const bits = FIRE | (second % 8 < 4 ? way : 0) | (second % 9 === 0 ? SPECIAL : 0)
    for (const client of all) client.input = isDaring ? RIGHT : bits
    for (const client of [0, 1]) sim.hold(client, { fire: true, rise: (second + client) % 4 < 2 ? 8 : -8 })
    // The players are good at this, but the R-Type players fly into the enemy until one of them has died.
    for (const [index, pilot] of sim.server(Pilot).entries()) {
      const isWeak = !names.has('PLAYER_DEATH') && index >= 2
      Object.assign(pilot, { level: 5, lives: 3, health: isWeak ? 1 : 100 })
    }
    run(1000)
  }
  for (const client of [all[0]!, again]) {
    expect(client.broken).toBe(0)
    expect(client.packets('LEVEL_COMPLETE').at(-1)).toMatchObject({ completed_level: 3, next_level: 255 })
    expect(client.packets('GAME_END').at(-1)).toMatchObject({ end_reason: 0 })
    expect(client.packets('TRANSFORM_SNAPSHOT').length).toBeGreaterThan(200)
  }
  for (const client of clients.values()) client.leave(now())
  run(1500)
  expect(sim.server(Pilot)).toHaveLength(2)
  expect(PACKET_STRUCTS.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([])
})
