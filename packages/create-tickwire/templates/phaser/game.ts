import { bool, defineGame, entity, fixed, math, message, u16, u8 } from 'tickwire'

export const WIDTH = 960
export const HEIGHT = 540
const SPEED = 4
const TURN = 0.09
const SHELL_SPEED = 14
const RELOAD_TICKS = 12
const REACH = 20

export const Tank = entity({
  x: fixed(0, WIDTH, 0.1).position(), y: fixed(0, HEIGHT, 0.1).position(), heading: fixed(-4, 4, 0.01),
  hue: u8, health: u8, hits: u16, reload: u8.owner(),
}, { name: 'Tank' })
export const Shell = entity({
  x: fixed(-20, WIDTH + 20, 0.1).position(), y: fixed(-20, HEIGHT + 20, 0.1).position(),
  speedX: fixed(-500, 500, 1).velocity('x'), speedY: fixed(-500, 500, 1).velocity('y'),
}, { name: 'Shell' })
/** Something was hit, here. */
export const Bang = message({ x: fixed(0, WIDTH, 1), y: fixed(0, HEIGHT, 1) }, 'Bang')

export const game = defineGame({
  tickRate: 30,
  input: { left: bool, right: bool, up: bool, down: bool, fire: bool },
  entities: [Tank, Shell],
  messages: [Bang],
  onJoin: (world, peer) =>
    world.spawn(Tank, { x: 120 + ((peer.id * 280) % 720), y: HEIGHT / 2, hue: (peer.id * 47) & 255, health: 3 }, peer),
  step(world, inputs) {
    for (const tank of world.each(Tank)) {
      const keys = inputs.of(tank.owner)
      tank.heading = wrap(tank.heading + (+keys.right - +keys.left) * TURN)
      const [dx, dy] = [math.cos(tank.heading), math.sin(tank.heading)]
      const speed = (+keys.up - +keys.down) * SPEED
      tank.x = clamp(tank.x + dx * speed, WIDTH)
      tank.y = clamp(tank.y + dy * speed, HEIGHT)
      if (tank.reload > 0) tank.reload--
      if (!keys.fire || tank.reload > 0) continue
      tank.reload = RELOAD_TICKS
      // Predicted: the player sees the shell at once.
      const [speedX, speedY] = [dx * SHELL_SPEED * 30, dy * SHELL_SPEED * 30]
      world.spawn(Shell, { x: tank.x + dx * 24, y: tank.y + dy * 24, speedX, speedY }, tank.owner)
    }
    for (const shell of world.each(Shell)) {
      shell.x += shell.speedX / 30
      shell.y += shell.speedY / 30
      if (shell.x < 0 || shell.x > WIDTH || shell.y < 0 || shell.y > HEIGHT) world.despawn(shell)
      // The other tanks are simulated on the server only, so a hit is the server's decision.
      for (const tank of world.each(Tank)) {
        if (tank.owner === shell.owner || !shell.isAlive) continue
        if (math.hypot(tank.x - shell.x, tank.y - shell.y) > REACH) continue
        world.emit(tank, Bang, { x: tank.x, y: tank.y })
        world.despawn(shell)
        for (const shooter of world.each(Tank)) if (shooter.owner === shell.owner) shooter.hits++
        tank.health--
        if (tank.health > 0) continue
        tank.health = 3
        tank.x = world.random.int(tank, 40, WIDTH - 40)
        tank.y = world.random.int(tank, 40, HEIGHT - 40)
      }
    }
  },
})

/** Between half a turn to the left and half a turn to the right. */
function wrap(angle: number): number {
  return angle > Math.PI ? angle - 2 * Math.PI : angle < -Math.PI ? angle + 2 * Math.PI : angle
}

function clamp(value: number, most: number): number {
  return Math.max(20, Math.min(value, most - 20))
}
