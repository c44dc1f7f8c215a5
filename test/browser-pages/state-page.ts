/**
 * A game of a thousand ticks that uses a little of everything state is made of, and the hash of all its ticks.
 *
 * It runs in Node and, bundled, in a browser: the two digests must be equal to the last bit.
 */

import {
  angle, bool, entity, f32, fixed, group, HashStream, hashHex, list, math, oneOf, quat, quaternion, SaveSlots, StateHash, text, u8, vec3, World,
} from 'tickwire'

const Bird = entity({
  position: vec3(-500, 500, 0.001).position(),
  velocity: vec3(-50, 50, 0.01).velocity(),
  heading: angle(16),
  attitude: quat(11),
  mood: oneOf('calm', 'hungry', 'angry'),
  energy: f32,
  song: text(32),
  nest: group({ eggs: u8, isWarm: bool }),
  path: list(fixed(-1, 1, 0.01), 6),
}, { name: 'Bird' })

const Seed = entity({ x: fixed(-500, 500, 0.5), age: u8 }, { name: 'Seed' })

const TICKS = 1000
const FLOCK = 40

/** Plays the game; after every seventh tick it goes back three and plays them again. 16 hex digits. */
export function stateDigest(ticks: number = TICKS): string {
  const world = new World([Bird, Seed], { seed: 99 })
  const slots = new SaveSlots(world, 4)
  const hash = new StateHash(world)
  const trace = new HashStream()
  for (let bird = 0; bird < FLOCK; bird++) world.spawn(Bird, { position: { x: bird, y: -bird, z: 10 }, song: `bird ${bird}` }, bird % 5)
  for (let tick = 1; tick <= ticks; tick++) {
    advance(world, slots)
    if (tick % 7 === 0) {
      slots.load((tick - 3) % 4)
      while (world.tick < tick) advance(world, slots)
    }
    const [low, high] = hash.update()
    trace.word(low!)
    trace.word(high!)
  }
  const out = new Uint32Array(2)
  trace.finish(out, 0)
  return hashHex(out, 0)
}

function advance(world: World, slots: SaveSlots): void {
  world.beginTick()
  step(world)
  world.endTick()
  slots.save(world.tick % 4)
}

function step(world: World): void {
  const { tick } = world
  const axis = { x: 0.6, y: 0, z: 0.8 }
  const turn = { x: 0, y: 0, z: 0, w: 1 }
  for (const bird of world.each(Bird)) {
    const wind = math.sin(tick / 17 + bird.id / 65_536) * math.exp(-tick / 900)
    bird.velocity.x += wind + world.random.gaussian(bird) * 0.1
    bird.velocity.y += math.cos(bird.position.x / 30) * 0.3
    bird.velocity.z = math.atan2(bird.position.y, bird.position.x + 0.5)
    bird.position.x += bird.velocity.x / 60
    bird.position.y += bird.velocity.y / 60
    bird.position.z += bird.velocity.z / 60
    bird.heading += math.log(2 + tick) / 40
    quaternion.fromAxisAngle(axis, wind / 5, turn)
    quaternion.multiply(turn, bird.attitude, turn)
    bird.attitude = turn
    bird.energy = math.pow(math.hypot(bird.velocity.x, bird.velocity.y), 1.3)
    if (world.random.int(bird, 0, 30) === 0) bird.mood = world.random.float(bird) < 0.5 ? 'hungry' : 'angry'
    if (world.random.int(bird, 0, 50) === 0) bird.nest = bird.nest === null ? { eggs: tick % 9, isWarm: tick % 2 === 0 } : null
    if (tick % 60 === bird.id % 60) bird.song = `sung at ${tick}`
    if (tick % 45 === 0) bird.path = [wind, wind / 2, wind / 3]
    if (world.random.int(bird, 0, 20) === 0) world.spawn(Seed, { x: bird.position.x })
  }
  for (const seed of world.each(Seed)) {
    seed.age++
    if (seed.age > 40) world.despawn(seed)
  }
}
