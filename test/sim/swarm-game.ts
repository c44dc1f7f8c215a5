/**
 * The game the swarm plays: a little of everything the engine carries, moved by players and by chance.
 */

import {
  bool, defineGame, entity, fixed, group, int, message, text, u16, u32, u8, vec2, type Entity, type Game, type Message,
} from 'tickwire'

export const Walker = entity({
  at: vec2(-500, 500, 0.01).position(),
  name: text(24),
  health: int(0, 100).initially(100),
  shield: group({ strength: u8.initially(3) }),
  ammo: u8.owner(),
  secret: u16.server(),
}, { name: 'Walker' })

export const Crate = entity({ x: fixed(-500, 500, 0.5), isOpen: bool, spawnedAt: u32 }, { name: 'Crate' })

/** Numbered by its sender, so that the far side can tell a gap, a repeat or a swap. */
export const Chat = message({ number: u32, text: text(80) }, 'Chat')

const INPUT = { up: bool, right: bool, shield: bool, aim: fixed(-1, 1, 0.01) }

export const swarmGame: Game<typeof INPUT> = defineGame({
  tickRate: 60,
  input: INPUT,
  entities: [Walker, Crate] as readonly Entity[],
  messages: [Chat] as readonly Message[],
  onJoin: (world, peer) => world.spawn(Walker, { name: `player ${peer.id}`, ammo: 50 }, peer),
  step(world, inputs) {
    const { tick } = world
    for (const walker of world.each(Walker)) {
      const { up, right, shield, aim } = inputs.of(walker.owner)
      walker.at.x += right ? 0.8 : aim
      walker.at.y += up ? 0.8 : -0.3 * aim
      if (shield !== (walker.shield !== null)) walker.shield = shield ? { strength: tick % 7 } : null
      if (tick % 90 === walker.id % 90) walker.name = `w${walker.id % 97} at ${tick}`
      if (chance(tick, walker.id, 0.02)) walker.health -= 7
      if (walker.health === 0) walker.health = 100
      walker.ammo = (tick >> 3) % 51
      walker.secret = tick % 65_536
    }
    for (const crate of world.each(Crate)) {
      if (tick - crate.spawnedAt > 45) world.despawn(crate)
      else if (chance(tick, crate.id, 0.05)) crate.isOpen = !crate.isOpen
    }
    if (chance(tick, 1, 0.08)) world.spawn(Crate, { x: (tick * 37) % 1000 - 500, spawnedAt: tick })
  },
})

/** True this often, by tick and object: a dice that every peer throws alike. */
function chance(tick: number, key: number, probability: number): boolean {
  let word = Math.imul(tick ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(key + 1, 0xc2b2_ae35)
  word = Math.imul(word ^ (word >>> 15), 0x2c1b_3c6d)
  word ^= word >>> 13
  return (word >>> 0) / 0x1_0000_0000 < probability
}
