/** docs/guide/ecs.md: the objects of a view in three ECS libraries, and as things of your own. */

import { addComponent, addEntity, createWorld, query, removeEntity } from 'bitecs'
import { createWorld as createKoota, trait } from 'koota'
import { World as Miniplex } from 'miniplex'
import { defineGame, entity, fixed, text, u8, vec2, type Game, type View } from 'tickwire'
import { mirror, mirrorBitecs, mirrorKoota, mirrorMiniplex } from 'tickwire/ecs'

// #region entity
export const Ship = entity({
  at: vec2(-500, 500, 0.01).position(), speed: vec2(-20, 20, 0.01).velocity(),
  health: u8, name: text(16),
}, { name: 'Ship' })
// #endregion

export const game: Game = defineGame({
  tickRate: 30,
  input: { push: fixed(-1, 1, 0.1) },
  entities: [Ship],
  onJoin: (world, peer) => world.spawn(Ship, { health: 100, name: `ship ${peer.id}`, speed: { x: 3, y: 0 } }, peer),
  step(world) {
    for (const ship of world.each(Ship)) ship.at.x += ship.speed.x / 30
  },
})

type Draw = (view: View) => void

/** A sprite of an imagined renderer. */
export class Sprite {
  static readonly shown: Set<Sprite> = new Set<Sprite>()
  x = 0
  y = 0
  readonly label: string

  constructor(label: string) {
    this.label = label
    Sprite.shown.add(this)
  }

  destroy(): void {
    Sprite.shown.delete(this)
  }
}

export function drawSprites(): Draw {
  // #region sprites
  const ships = mirror(Ship, {
    add: ({ name }) => new Sprite(name),
    write(sprite, { at }) {
      sprite.x = at.x
      sprite.y = at.y
    },
    remove: (sprite) => sprite.destroy(),
  })

  function draw(view: View): void {
    ships.update(view)
  }
  // #endregion
  return draw
}

export function drawBitecs(show: (x: number, health: number) => void): Draw {
  // #region bitecs
  const Position = { x: new Float32Array(10_000), y: new Float32Array(10_000) }
  const Status = { health: new Uint8Array(10_000), id: [] as number[] }
  const IsShip = {}

  const world = createWorld()
  const ships = mirrorBitecs(
    Ship, { world, addEntity, addComponent, removeEntity }, [[Position, 'at'], Status, IsShip],
  )

  function draw(view: View): void {
    ships.update(view)
    for (const eid of query(world, [Position, IsShip])) show(Position.x[eid]!, Status.health[eid]!)
  }
  // #endregion
  return draw
}

export function drawKoota(show: (x: number, health: number) => void): Draw {
  // #region koota
  const Position = trait({ x: 0, y: 0 })
  const Status = trait({ health: 100, name: '' })

  const world = createKoota()
  const ships = mirrorKoota(Ship, world, [[Position, 'at'], Status])

  function draw(view: View): void {
    ships.update(view)
    world.query(Position, Status).readEach(([{ x }, { health }]) => show(x, health))
  }
  // #endregion
  return draw
}

export function drawMiniplex(show: (x: number, health: number) => void): Draw {
  // #region miniplex
  interface Thing {
    position?: { x: number; y: number }
    health?: number
    looks?: { name: string }
    mesh?: object
  }
  const world = new Miniplex<Thing>()
  const ships = mirrorMiniplex(Ship, world, { position: 'at', health: 'health', looks: ['name'] })
  const drawn = world.with('position', 'health')

  function draw(view: View): void {
    ships.update(view)
    for (const { position, health } of drawn) show(position.x, health)
  }
  // #endregion
  return draw
}
