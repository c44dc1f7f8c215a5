/** Gentle bots: they avoid shots, line up with the nearest enemy, fetch power-ups and leave kills to others. */

import type { InitOf, Peer, World } from 'tickwire'
import { Enemy, HEIGHT, input, Pilot, Powerup, Ship, Shot, STICK, TICK_RATE } from './definitions.ts'

const NAMES = ['Nova', 'Orion', 'Vega', 'Lyra']
const FEAR = 90

/** Makes the function for `host.addBot`. */
export function createBot(seed: number): (world: World, me: Peer) => InitOf<typeof input> {
  let hasName = false
  return (world, me) => {
    const ship = [...world.each(Ship)].find(({ owner }) => owner === me.id)
    if (!hasName) hasName = introduce(world, me, NAMES[seed % NAMES.length]!)
    if (ship === undefined || !ship.isUp) return {}
    let [side, rise] = [0, 0]
    const goal = goalOf(world, ship.x, ship.y, seed)
    if (Math.abs(goal.x - ship.x) > 14) side += goal.x > ship.x ? 0.6 : -0.6
    if (Math.abs(goal.y - ship.y) > 10) rise += goal.y > ship.y ? 0.7 : -0.7
    for (const danger of dangers(world)) {
      const [dx, dy] = [ship.x - danger.x - danger.vx * 0.2, ship.y - danger.y - danger.vy * 0.2]
      const distance = Math.hypot(dx, dy)
      if (distance > FEAR || distance === 0) continue
      const push = ((FEAR - distance) / FEAR) * 2.4
      side += (dx / distance) * push * 0.6
      rise += (dy / distance || 1) * push
    }
    for (const other of world.each(Ship)) {
      const apart = ship.y - other.y
      if (other.id === ship.id || !other.isUp || Math.abs(apart) > 60 || Math.abs(ship.x - other.x) > 80) continue
      rise += apart > 0 || (apart === 0 && seed % 2 === 0) ? 0.8 : -0.8
    }
    // It fires in bursts, so that people get their share.
    const isFiring = Math.floor(world.tick / TICK_RATE + seed) % 3 !== 0
    const special = world.tick % (TICK_RATE * 8) < 3
    return { side: stick(side), rise: stick(rise), fire: isFiring, special }
  }
}

function introduce(world: World, me: Peer, name: string): boolean {
  for (const pilot of world.each(Pilot)) {
    if (pilot.peer !== me.id) continue
    Object.assign(pilot, { name, isBot: true })
    return true
  }
  return false
}

function goalOf(world: World, x: number, y: number, seed: number): { x: number; y: number } {
  for (const powerup of world.each(Powerup)) if (powerup.x < x + 260 && powerup.x > 60) return powerup
  let best = { x: 150 + seed * 25, y: HEIGHT / 2 + (seed % 2 === 0 ? 70 : -70) }
  let least = Infinity
  for (const enemy of world.each(Enemy)) {
    const distance = Math.abs(enemy.y - y) + Math.abs(enemy.x - x) * 0.4
    if (enemy.x > x + 60 && distance < least) [best, least] = [{ x: best.x, y: enemy.y }, distance]
  }
  return best
}

function* dangers(world: World): Generator<{ x: number; y: number; vx: number; vy: number }> {
  for (const shot of world.each(Shot)) if (shot.by === 0) yield shot
  for (const enemy of world.each(Enemy)) yield enemy
}

function stick(value: number): number {
  return Math.round(Math.max(-1, Math.min(1, value)) * STICK)
}
