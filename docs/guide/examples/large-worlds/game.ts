/** docs/guide/large-worlds.md: a map of 40 km, 20,000 animals, and a forest that no row contains. */

import { bool, defineGame, entity, list, near, u8, vec2, type Game, type World } from 'tickwire'

// #region fields
/** The map reaches from -20 km to 20 km, in metres. */
const REACH = 20_000
const at = vec2(-REACH, REACH, 0.01).position()

export const Player = entity({ at }, { name: 'Player', interest: near(300), priority: 2 })
export const Animal = entity({ at, kind: u8 }, { name: 'Animal', interest: near(200), rate: 10 })
// #endregion

// #region chunk
/** The width of a chunk of the forest, in metres, and its trees. */
export const CHUNK = 128
const TREES = 40

/** What differs from the forest that the map began with: one object for each chunk in which a tree was felled. */
export const Felled = entity({ at, trees: list(u8, TREES) }, { name: 'Felled', interest: near(400) })

/** The trees of a chunk. Every machine computes the same, so trees are never sent. */
export function treesOf(chunkX: number, chunkY: number): { readonly x: number; readonly y: number }[] {
  return Array.from({ length: TREES }, (_, tree) => ({
    x: (chunkX + share(chunkX, chunkY, 2 * tree)) * CHUNK,
    y: (chunkY + share(chunkX, chunkY, 2 * tree + 1)) * CHUNK,
  }))
}

/** A number from 0 to 1 that looks random, and is the same everywhere: integers only, no floating-point functions. */
function share(x: number, y: number, n: number): number {
  let bits = Math.imul(x, 0x9e3779b1) ^ Math.imul(y, 0x85ebca6b) ^ Math.imul(n, 0xc2b2ae35)
  bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d)
  bits = Math.imul(bits ^ (bits >>> 12), 0x297a2d39)
  return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32
}

function fell(world: World, chunkX: number, chunkY: number, tree: number): void {
  const middle = { x: (chunkX + 0.5) * CHUNK, y: (chunkY + 0.5) * CHUNK }
  for (const felled of world.each(Felled)) {
    if (felled.at.x !== middle.x || felled.at.y !== middle.y) continue
    if (!felled.trees.includes(tree)) felled.trees = [...felled.trees, tree]
    return
  }
  world.spawn(Felled, { at: middle, trees: [tree] })
}
// #endregion

const input = { left: bool, right: bool, up: bool, down: bool, axe: bool }

/** Metres between animals, so that about 27 are within 200 m of each place, however many there are. */
const SPACING = 68

/** The game with so many animals, in a square around the middle of the map. */
export const makeWilds = (animals: number): Game<typeof input> => defineGame({
  tickRate: 20,
  input,
  entities: [Player, Animal, Felled],
  onJoin: (world, peer) => world.spawn(Player, { at: { x: 40 * peer.id, y: 0 } }, peer),
  step(world, inputs) {
    if (world.tick === 1) spawnAnimals(world, animals)
    for (const { at, owner } of world.each(Player)) {
      const keys = inputs.of(owner)
      at.x += +keys.right - +keys.left
      at.y += +keys.down - +keys.up
      if (keys.axe) fell(world, Math.floor(at.x / CHUNK), Math.floor(at.y / CHUNK), 0)
    }
    // #region stagger
    // An eighth of the animals thinks in each tick.
    for (const animal of world.each(Animal)) {
      if (!world.every(8, animal.id)) continue
      animal.at.x += world.random.int(animal, -1, 1)
      animal.at.y += world.random.int(animal, -1, 1)
    }
    // #endregion
  },
})


function spawnAnimals(world: World, animals: number): void {
  const side = Math.ceil(Math.sqrt(animals))
  for (let n = 0; n < animals; n++) {
    const [column, row] = [n % side, Math.floor(n / side)]
    world.spawn(Animal, { kind: n % 4, at: { x: (column - side / 2) * SPACING, y: (row - side / 2) * SPACING } })
  }
}
