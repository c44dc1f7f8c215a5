/**
 * The simulation of the scene of 901 cubes: a large cube rolls through a field of 900 small cubes on the floor, and
 * pushes them away or pulls them along, at 60 steps a second. It uses Rapier's deterministic build, so that one seed
 * gives the same scene on every machine.
 *
 * Sizes, forces and damping are those of the articles' scene. The path of the player is our own: from one point of the
 * field to the next.
 */

import rapier from '@dimforge/rapier3d-deterministic-compat'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { articleGrid, CUBE_LANES, CUBES, SIDE } from './cube-rows.ts'

const SIDE_PLAYER = 1.5
const SIDE_SMALL = 0.4
const ROW_CUBES = 30
const FIELD_RADIUS = 13
/** The player's cube falls from above, and comes to rest before it is steered. */
const DROP_FRAMES = 30
const PULL = 120
const STEPS_PER_METRE = 512
/** A cube that has been at rest for this many frames has no owner. */
const CALM_FRAMES = 100
/** A cube whose squared speed, linear or angular, is below this is at rest. */
const CALM_SPEED = 0.0625

interface Scene {
  readonly world: rapier.World
  readonly bodies: readonly rapier.RigidBody[]
  readonly colliders: readonly rapier.Collider[]
  readonly places: ReadonlyMap<number, number>
  /** Indexed by cube: whether the player owns it, and for how many frames it has been at rest. */
  readonly touched: Uint8Array
  readonly calm: Uint16Array
}

/** The current goal of the player. */
interface Errand {
  x: number
  y: number
  frames: number
  isThrowing: boolean
  modeFrames: number
}

/** This many frames, as rows. */
export async function playCubes(frames: number, seed: number): Promise<Int32Array[]> {
  await rapier.init()
  const scene = build()
  const dice = new Prng(seed)
  const errand: Errand = { x: 0, y: 0, frames: 0, isThrowing: true, modeFrames: 0 }
  const rows: Int32Array[] = []
  for (let frame = 0; frame < frames; frame++) {
    for (const body of scene.bodies) body.resetForces(false)
    if (frame >= DROP_FRAMES) push(scene, errand, dice)
    scene.world.step()
    spread(scene)
    rows.push(rowOf(scene))
  }
  scene.world.free()
  return rows
}

function build(): Scene {
  const world = new rapier.World({ x: 0, y: 0, z: -20 })
  world.timestep = 1 / 60
  world.createCollider(rapier.ColliderDesc.cuboid(200, 200, 1).setTranslation(0, 0, -1).setFriction(0.9))
  const bodies: rapier.RigidBody[] = []
  const colliders: rapier.Collider[] = []
  const add = (side: number, x: number, y: number, z: number): void => {
    const desc = rapier.RigidBodyDesc.dynamic()
      .setTranslation(x, y, z)
      .setLinearDamping(0.6)
      .setAngularDamping(0.6)
      .setSleeping(bodies.length > 0)
    const body = world.createRigidBody(desc)
    bodies.push(body)
    colliders.push(
      world.createCollider(
        rapier.ColliderDesc.cuboid(side / 2, side / 2, side / 2)
          .setDensity(1)
          .setFriction(0.9)
          .setRestitution(0),
        body,
      ),
    )
  }
  add(SIDE_PLAYER, 0, 0, 10)
  for (let cube = 0; cube < CUBES - 1; cube++)
    add(
      SIDE_SMALL,
      (cube % ROW_CUBES) - ROW_CUBES / 2 + 0.5,
      Math.floor(cube / ROW_CUBES) - ROW_CUBES / 2 + 0.5,
      SIDE_SMALL / 2,
    )
  return {
    world,
    bodies,
    colliders,
    places: new Map(colliders.map(({ handle }, cube) => [handle, cube])),
    touched: new Uint8Array(CUBES),
    calm: new Uint16Array(CUBES),
  }
}

/** Steers the player, and pushes near cubes away or pulls them in. */
function push(scene: Scene, errand: Errand, dice: Prng): void {
  const [player] = scene.bodies
  const at = player!.translation()
  if (errand.frames-- <= 0 || Math.hypot(errand.x - at.x, errand.y - at.y) < 1) {
    Object.assign(errand, {
      x: (dice.nextFloat() * 2 - 1) * FIELD_RADIUS,
      y: (dice.nextFloat() * 2 - 1) * FIELD_RADIUS,
      frames: dice.nextInt(30, 180),
    })
  }
  if (errand.modeFrames-- <= 0)
    Object.assign(errand, { isThrowing: dice.nextFloat() < 0.7, modeFrames: dice.nextInt(120, 360) })
  // Keys, not a stick: eight directions.
  const far = (way: number): number => (way > 1 ? 1 : way < -1 ? -1 : 0)
  const [right, up] = [far(errand.x - at.x), far(errand.y - at.y)]
  const speed = player!.linvel()
  const isTurningBack = !errand.isThrowing && speed.x * right + speed.y * up < 0
  const force = isTurningBack ? 2 * PULL : PULL
  player!.addForce({ x: right * force, y: up * force, z: 0 }, true)
  if (errand.isThrowing) {
    const turn = player!.angvel()
    player!.setAngvel({ x: turn.x * 0.95, y: turn.y * 0.95, z: turn.z * 0.95 }, true)
    player!.setLinvel({ x: speed.x * 0.96, y: speed.y * 0.96, z: speed.z * 0.999 }, true)
  }
  scene.bodies.forEach((body, cube) => {
    const place = body.translation()
    if (errand.isThrowing)
      throwOff(scene, body, cube, place.x - at.x, place.y - at.y, place.z + 0.1 - (cube === 0 ? 0.7 : 0))
    else if (cube > 0) gather(scene, body, cube, place.x - at.x, place.y - at.y, place.z - at.z)
  })
}

function throwOff(scene: Scene, body: rapier.RigidBody, cube: number, x: number, y: number, z: number): void {
  const square = x * x + y * y + z * z
  if (square < 1e-4 || square > 4) return
  force(scene, body, cube, (Math.min(500, 200 / square) * (cube === 0 ? 1 : body.mass())) / Math.sqrt(square), x, y, z)
}

function gather(scene: Scene, body: rapier.RigidBody, cube: number, x: number, y: number, z: number): void {
  const square = x * x + y * y + z * z
  if (square < 0.04 || square > 3.24) return
  force(scene, body, cube, (-Math.min(2000, 200 / square) * body.mass()) / Math.sqrt(square), x, y, z)
}

function force(scene: Scene, body: rapier.RigidBody, cube: number, by: number, x: number, y: number, z: number): void {
  body.addForce({ x: x * by, y: y * by, z: z * by }, true)
  scene.touched[cube] = 1
  scene.calm[cube] = 0
}

/** The player owns cubes that it touches, directly or through other cubes, until they have been at rest. */
function spread({ world, bodies, colliders, places, touched, calm }: Scene): void {
  touched[0] = 1
  for (let cube = 1; cube < CUBES; cube++) {
    if (isMoving(bodies[cube]!)) calm[cube] = 0
    else if (++calm[cube]! > CALM_FRAMES) touched[cube] = 0
  }
  const open = Array.from(touched.keys()).filter((cube) => touched[cube] === 1)
  for (let cube = open.pop(); cube !== undefined; cube = open.pop()) {
    world.contactPairsWith(colliders[cube]!, ({ handle }) => {
      const other = places.get(handle)
      if (other === undefined || touched[other] === 1 || bodies[other]!.isSleeping()) return
      touched[other] = 1
      calm[other] = 0
      open.push(other)
    })
  }
}

function isMoving(body: rapier.RigidBody): boolean {
  if (body.isSleeping()) return false
  const isFast = ({ x, y, z }: rapier.Vector): boolean => x * x + y * y + z * z > CALM_SPEED
  return isFast(body.linvel()) || isFast(body.angvel())
}

const unit = new Float64Array(4)

function rowOf({ bodies, touched }: Scene): Int32Array {
  const row = new Int32Array(CUBES * CUBE_LANES)
  bodies.forEach((body, cube) => {
    const at = cube * CUBE_LANES
    const { x, y, z, w } = body.rotation()
    unit.set([x, y, z, w])
    const dropped = [0, 1, 2, 3].reduce(
      (largest, axis) => (Math.abs(unit[axis]!) > Math.abs(unit[largest]!) ? axis : largest),
      0,
    )
    row[at] = dropped
    articleGrid.toCodes(unit, 0, dropped, row, at + 1)
    const place = body.translation()
    const steps = (value: number, least: number, most: number): number =>
      Math.floor(Math.max(least, Math.min(most, value)) * STEPS_PER_METRE + 0.5)
    row.set(
      [
        steps(place.x, -31.99, 31.99) + SIDE,
        steps(place.y, -31.99, 31.99) + SIDE,
        steps(place.z, 0, 15.99),
        touched[cube]!,
      ],
      at + 4,
    )
  })
  return row
}
