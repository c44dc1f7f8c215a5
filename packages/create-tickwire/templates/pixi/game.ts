import { bool, defineGame, entity, fixed, int, math, u16, u8, type World } from 'tickwire'

export const WIDTH = 960
export const HEIGHT = 540
const SPEED = 10
const REACH = 30
const ORBS = 24

export const Ship = entity({
  x: fixed(0, WIDTH, 0.1).position(), y: fixed(0, HEIGHT, 0.1).position(), heading: fixed(-4, 4, 0.01),
  hue: u8, orbs: u16,
}, { name: 'Ship' })
export const Orb = entity({ x: fixed(0, WIDTH, 1), y: fixed(0, HEIGHT, 1), hue: u8 }, { name: 'Orb' })

export const game = defineGame({
  tickRate: 30,
  // Where the pointer is, while it is held.
  input: { isHeld: bool, x: int(0, WIDTH), y: int(0, HEIGHT) },
  entities: [Ship, Orb],
  onJoin: (world, peer) => world.spawn(Ship, { x: WIDTH / 2, y: HEIGHT / 2, hue: (peer.id * 47) & 255 }, peer),
  step(world, inputs) {
    if (world.tick === 1) for (let n = 0; n < ORBS; n++) spawnOrb(world)
    for (const ship of world.each(Ship)) {
      const { isHeld, x, y } = inputs.of(ship.owner)
      const [dx, dy] = [x - ship.x, y - ship.y]
      const distance = math.hypot(dx, dy)
      if (!isHeld || distance < 1) continue
      const part = Math.min(SPEED / distance, 1)
      ship.x += dx * part
      ship.y += dy * part
      ship.heading = math.atan2(dy, dx)
    }
    // Orbs belong to the server: this loop is empty on a client.
    for (const orb of world.each(Orb)) {
      for (const ship of world.each(Ship)) {
        if (math.hypot(orb.x - ship.x, orb.y - ship.y) > REACH) continue
        ship.orbs++
        world.despawn(orb)
        spawnOrb(world)
        break
      }
    }
  },
})

function spawnOrb(world: World): void {
  const at = (size: number) => world.random.int(world, 20, size - 20)
  world.spawn(Orb, { x: at(WIDTH), y: at(HEIGHT), hue: world.random.int(world, 0, 255) })
}
