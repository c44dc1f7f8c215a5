/** Replication over bad lines: what is held is true, and what is relevant becomes current. */

import { describe, expect, test } from 'vitest'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { bool, deltaStruct, fixed, group, i32, text, u16, u8, vec2 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { CLEAR, Party, type Line, type Sees } from './replication-party.ts'

const Ship = entity({
  at: vec2(-1000, 1000, 0.1), heading: fixed(0, 360, 1), hull: u8.initially(100), ammo: u16.owner(), plan: i32.team(), secret: i32.server(),
  shield: group({ power: u8, isUp: bool }), name: text(12), gear: deltaStruct({ wheels: bool, flaps: u8 }),
}, { name: 'Ship' })
const Rock = entity({ x: fixed(0, 100, 0.5), y: fixed(0, 100, 0.5), isGold: bool }, { name: 'Rock' })

const PEERS = 3
const WINDOW = 32

/** What a game does in a tick, by dice. */
function play(party: Party, dice: Prng, calm: number): void {
  const { world } = party
  const ships = [...world.each(Ship)]
  const rocks = [...world.each(Rock)]
  if (ships.length < 12 && dice.nextInt(0, 9) < 3) world.spawn(Ship, { name: `n${dice.nextInt(0, 5)}`, hull: dice.nextInt(0, 255) }, dice.nextInt(0, PEERS))
  if (rocks.length < 40 && dice.nextInt(0, 9) < 4) world.spawn(Rock, { x: dice.nextInt(0, 100), y: dice.nextInt(0, 100) })
  for (const ship of ships) {
    if (dice.nextInt(0, 99) < 2) { world.despawn(ship); continue }
    if (dice.nextInt(0, 99) < 2) world.setOwner(ship, dice.nextInt(0, PEERS))
    if (dice.nextInt(0, 99) < calm) continue
    if (dice.nextInt(0, 1) === 0) ship.at.x += dice.nextInt(-3, 3)
    if (dice.nextInt(0, 3) === 0) ship.at.y += dice.nextFloat()
    if (dice.nextInt(0, 5) === 0) ship.heading = dice.nextInt(0, 360)
    if (dice.nextInt(0, 3) === 0) ship.ammo = dice.nextInt(0, 9)
    if (dice.nextInt(0, 3) === 0) ship.plan = dice.nextInt(-9, 9)
    if (dice.nextInt(0, 1) === 0) ship.secret++
    if (dice.nextInt(0, 9) === 0) ship.shield = ship.shield ? null : { power: 3, isUp: true }
    if (dice.nextInt(0, 19) === 0) ship.name = `n${dice.nextInt(0, 5)}`
    if (dice.nextInt(0, 9) === 0) ship.gear.flaps = dice.nextInt(0, 3)
  }
  for (const rock of rocks) {
    if (dice.nextInt(0, 99) < 1) { world.despawn(rock); continue }
    if (dice.nextInt(0, 99) < 4) rock.x = dice.nextInt(0, 100)
    if (dice.nextInt(0, 99) < 2) rock.isGold = !rock.isGold
  }
}

/** Objects come into view and leave it by a hash; teams are peers 1 and 2. */
function seesOf(party: Party, peer: number, blink: number): Sees {
  return (index, id, tick) => {
    if (blink > 0 && ((index * 2654435761 + Math.floor((tick + 7 * index) / blink) * 40503 + peer * 977) >>> 7) % 4 === 0) return -1
    const owner = party.world.objects.ownerAt(id >>> 16)
    if (owner === peer) return 2
    return owner > 0 && owner <= 2 && peer <= 2 ? 1 : 0
  }
}

function drawLine(dice: Prng): Line {
  return {
    loss: dice.nextInt(0, 2) * 0.2, ackLoss: dice.nextInt(0, 2) * 0.2, twice: dice.nextInt(0, 1) * 0.1,
    delay: dice.nextInt(0, 6), jitter: dice.nextInt(0, 2) * 6, patience: dice.nextInt(4, 40),
    packetBytes: dice.nextInt(0, 3) === 0 ? 80 : 1150, packetsPerTick: dice.nextInt(1, 4),
  }
}

function makeParty(seed: number): { readonly party: Party; readonly dice: Prng } {
  const dice = new Prng(seed)
  const party = new Party(seed, [Ship, Rock], WINDOW)
  const blink = [0, 3, 20, 100][dice.nextInt(0, 3)]!
  for (let peer = 1; peer <= PEERS; peer++) {
    const receiver = party.join(peer, seesOf(party, peer, blink), dice.nextInt(0, 2) === 0 ? { bytesPerSecond: dice.nextInt(500, 5000), tickRate: 60 } : {})
    receiver.line = drawLine(dice)
  }
  return { party, dice }
}

/** Everything calm: nothing moves, nothing is lost, nobody comes into view or leaves it. */
function settle(party: Party, ticks: number): void {
  for (const [at, receiver] of party.receivers.entries()) {
    receiver.line = { ...CLEAR }
    receiver.relevance.sees = seesOf(party, at + 1, 0)
  }
  for (let tick = 0; tick < ticks; tick++) party.tick(() => {})
  for (const receiver of party.receivers) expect(receiver.whyNotCurrent(), `seed ${party.seed}`).toBe(undefined)
}

describe('rows that are held are true, and relevant ones become current', () => {
  const seeds = Number(process.env['TICKWIRE_SEEDS'] ?? 60)
  test(`[REPL1] ${seeds} games in random weather`, () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const { party, dice } = makeParty(seed)
      const calm = dice.nextInt(0, 2) * 45
      for (let tick = 0; tick < 300; tick++) {
        party.tick(() => play(party, dice, calm))
        if (tick % 60 === 59) party.receivers[dice.nextInt(0, PEERS - 1)]!.line = drawLine(dice)
      }
      settle(party, 120)
    }
  })
})
