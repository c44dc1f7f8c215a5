/** The code of docs/guide/state.md. It is compiled with the tests and run by test/reference/state-docs.test.ts. */

import { entity, group, int, math, ref, text, u8, vec2, World, type ObjectId, type ObjectOf } from 'tickwire'
import {
  encodeWorld, locateDifference, restoreWorld, SaveSlots, StateHash, Timeline, windowTicks, type Difference,
} from 'tickwire/engine'

// #region entities
export const Ship = entity({
  at: vec2(-1000, 1000, 0.01).position(),
  speed: vec2(-50, 50, 0.01).velocity(),
  hull: int(0, 100).initially(100),
  name: text(20),
  shield: group({ strength: u8.initially(50) }),
  target: ref(),
}, { name: 'Ship' })
// #endregion

// #region handles
export function fly(world: World): void {
  for (const ship of world.each(Ship)) {
    ship.at.x += ship.speed.x / 60
    ship.at.y += ship.speed.y / 60
    if (ship.hull < 30 && ship.shield === null) ship.shield = { strength: 80 }
    if (ship.shield !== null && ship.shield.strength === 0) ship.shield = null
    const target = world.get(Ship, ship.target)
    if (target !== null) ship.speed = aim(ship, target)
    if (ship.hull === 0) world.despawn(ship)
  }
}
// #endregion

// #region exact
function aim(from: ObjectOf<typeof Ship>, to: ObjectOf<typeof Ship>): { x: number; y: number } {
  // Math.atan2 and similar functions differ between browsers in their last bits; these do not.
  const angle = math.atan2(to.at.y - from.at.y, to.at.x - from.at.x)
  return { x: 20 * math.cos(angle), y: 20 * math.sin(angle) }
}
// #endregion

// #region random
export function scatter(world: World): void {
  // Drawn for this ship in this tick: a client that steps one ship of many draws the same numbers for it.
  for (const ship of world.each(Ship)) ship.at.x += world.random.float(ship) - 0.5
}
// #endregion

// #region values
export function rename(ship: ObjectOf<typeof Ship>, name: string): void {
  // A text, list or byte string is a value: it is replaced, never written into. Equal ones are kept once.
  if (ship.name !== name) ship.name = name
}
// #endregion

// #region owner
export function capture(world: World, ship: ObjectOf<typeof Ship>, by: ObjectOf<typeof Ship>): void {
  world.setOwner(ship, by.owner)
}
// #endregion

// #region external
export class Tide {
  level = 0

  /** A world in which `step` may also use the tide: it is saved, loaded, hashed and encoded with everything else. */
  makeWorld(): World {
    return new World([Ship], {
      seed: 7,
      external: {
        encode: () => Uint8Array.of(this.level),
        decode: ([level]) => { this.level = level! },
      },
    })
  }
}
// #endregion

/** One tick by hand; a host does this for you. */
export function tick(world: World): void {
  world.beginTick()
  fly(world)
  scatter(world)
  world.endTick()
}

// #region save
export function rollBack(world: World, slots: SaveSlots, ticks: number): void {
  const end = world.tick
  slots.load((end - ticks) % slots.count)
  while (world.tick < end) {
    tick(world)
    slots.save(world.tick % slots.count)
  }
}
// #endregion

// #region image
export function copyWorld(live: World, fresh: World): World {
  const image = encodeWorld(live)
  const verdict = image === undefined ? 'too-large' : restoreWorld(fresh, image)
  if (verdict !== 'restored') throw new Error(`the world was not copied: ${verdict}`)
  return fresh
}
// #endregion

// #region timeline
export class Watcher {
  readonly timeline: Timeline

  constructor(world: World) {
    this.timeline = new Timeline(world, windowTicks(60, 500))
  }

  /** Call it after every tick. */
  look(): void {
    this.timeline.sample()
  }

  /** How many of the last ticks a ship stood still. */
  stillFor(id: ObjectId): number {
    return this.timeline.newest - this.timeline.changedAt(id)
  }
}
// #endregion

// #region hash
export function whatDiffers(a: World, b: World): Difference | undefined {
  const [hashA, hashB] = [new StateHash(a), new StateHash(b)]
  hashA.update()
  hashB.update()
  return locateDifference({ world: a, hash: hashA }, { world: b, hash: hashB }).difference
}
// #endregion
