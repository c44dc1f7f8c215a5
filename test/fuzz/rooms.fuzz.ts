/**
 * Hostile bytes at the door of rooms: requests to join, tickets to a seat, welcomes, and the image of a room from a
 * file.
 *
 * Accepted bytes are written again as the same bytes where there is one encoding; a ticket that is read is one
 * that was made.
 */

import { decodeJoin, encodeJoin } from '../../packages/tickwire/src/core/rooms/join-body.ts'
import { TicketMint } from '../../packages/tickwire/src/core/rooms/resume-ticket.ts'
import { encodeWorld, restoreWorld } from '../../packages/tickwire/src/core/world/world-image.ts'
import { decodeWelcome, encodeWelcome } from '../../packages/tickwire/src/core/rooms/welcome.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { fixed, list, text, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { FuzzTarget } from './target.ts'

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at])

const mint = new TicketMint(pureProvider, new Dice(7))
const tickets = [
  mint.make({ room: 1, peer: 2, serial: 3 }),
  mint.make({ room: 0xffff_ffff, peer: 0xffff_ffff, serial: 0 }),
]

const joins: FuzzTarget = {
  name: 'rooms-join',
  seeds: () => [
    encodeJoin({}),
    encodeJoin({ role: 'spectator' }),
    encodeJoin({ room: 'abc' }),
    encodeJoin({ code: 'QWERTY' }),
    encodeJoin({ quick: 'melee', filter: { map: 'dust' } }),
    encodeJoin({ create: 'duel', isPrivate: true, metadata: { name: 'mine' } }),
    encodeJoin({ create: 'duel', password: 'sesame', optionsSize: 2 }),
    encodeJoin({ room: 'abc', password: 'sesame' }),
    encodeJoin({ resume: tickets[0]! }),
    encodeJoin({ room: 'abc', trace: new Uint8Array(24).fill(9) }),
  ],
  run(bytes) {
    const join = decodeJoin(bytes)
    if (join === undefined) return
    const again = decodeJoin(encodeJoin(join))
    if (JSON.stringify(again) !== JSON.stringify(join))
      throw new Error('an accepted request differs when it is written again')
  },
}

const resumes: FuzzTarget = {
  name: 'rooms-ticket',
  seeds: () => tickets,
  run(bytes) {
    const ticket = mint.read(bytes)
    if (ticket === undefined) return
    if (!tickets.some((made) => isSame(made, bytes))) throw new Error('a forged ticket is accepted')
    if (!isSame(mint.make(ticket), bytes)) throw new Error('a ticket has two encodings')
  },
}

const welcomes: FuzzTarget = {
  name: 'rooms-welcome',
  seeds: () => [
    encodeWelcome({ peer: 1, seed: 2 }),
    encodeWelcome({ peer: 9, seed: 0xffff_ffff, seat: { room: 'abc', ticket: tickets[0]!, isBack: false } }),
    encodeWelcome({ peer: 9, seed: 3, seat: { room: 'é'.repeat(20), ticket: tickets[1]!, isBack: true } }),
  ],
  run(bytes) {
    decodeWelcome(bytes)
  },
}

const Ship = entity({ x: fixed(0, 1000, 0.1), name: text(40), cargo: list(u8, 8), secret: u8.server() })
const Rock = entity({ size: u8 })
const makeWorld = (): World => new World([Ship, Rock], { seed: 5 })

function furnished(ticks: number): Uint8Array {
  const world = makeWorld()
  for (let tick = 0; tick < ticks; tick++) {
    world.beginTick()
    world.spawn(Ship, { x: tick, name: `ship ${tick}`, cargo: [tick], secret: tick }, { id: tick })
    world.spawn(Rock, { size: tick })
    world.endTick()
  }
  return encodeWorld(world) ?? new Uint8Array(0)
}

const images: FuzzTarget = {
  name: 'rooms-image',
  seeds: () => [furnished(0), furnished(1), furnished(12)],
  // A world of its own for every run.
  allocationBytesMax: 16 << 20,
  run(bytes) {
    const world = makeWorld()
    if (restoreWorld(world, bytes) !== 'restored') return
    const again = encodeWorld(world)
    if (again === undefined) throw new Error('a world that was restored cannot be put into bytes')
  },
}

export const targets: readonly FuzzTarget[] = [joins, resumes, welcomes, images]
