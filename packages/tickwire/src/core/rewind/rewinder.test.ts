import { describe, expect, test } from 'vitest'
import { Prng } from '../base/prng.ts'
import { Interpolator } from '../interpolate/interpolator.ts'
import { entity } from '../schema/definition.ts'
import { angle, fixed, group, quat, text, u8, vec3 } from '../schema/field-kinds.ts'
import type { ObjectOf } from '../world/handle.ts'
import { StateHash } from '../world/state-hash.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import { sphere } from './hitbox.ts'
import type { Past } from './past.ts'
import { Rewinder, type RewindOptions } from './rewinder.ts'
import { AckedRing } from './acked-ring.ts'

const Player = entity(
  {
    at: vec3(-1000, 1000, 0.001).position(),
    speed: vec3(-100, 100, 0.01).velocity(),
    yaw: angle(16),
    aim: quat(),
    hp: u8,
    name: text(12),
    shield: group({ strength: fixed(0, 1, 0.01) }),
  },
  { name: 'Player' },
)
const Tree = entity({ height: fixed(0, 50, 0.1) }, { name: 'Tree' })
const ENTITIES = [Player, Tree]
const RATE = 100

/** An authority of some ticks, its Timeline and its rewinder. */
class Match {
  readonly world = new World(ENTITIES)
  readonly timeline = new Timeline(this.world, RATE)
  readonly rewinder: Rewinder

  constructor(options: Partial<RewindOptions> = {}) {
    this.rewinder = new Rewinder(ENTITIES, this.world, this.timeline, {
      tickRate: RATE,
      hitboxes: [[Player, [sphere(1)]]],
      ...options,
    })
  }

  tick(step: (world: World) => void = () => {}): void {
    this.world.beginTick()
    step(this.world)
    this.world.endTick()
    this.timeline.sample()
  }
}

/** Every player walks, turns and changes; some spawn and despawn. */
function wander(world: World, dice: Prng): void {
  for (const player of world.each(Player)) {
    player.at.x += player.speed.x / RATE
    player.at.z += player.speed.z / RATE
    player.yaw += dice.nextInt(-20, 20) / 100
    const half = world.tick / 50
    player.aim = { x: 0, y: Math.sin(half), z: 0, w: Math.cos(half) }
    if (dice.nextInt(0, 9) === 0) player.speed = { x: dice.nextInt(-90, 90), y: 0, z: dice.nextInt(-90, 90) }
    if (dice.nextInt(0, 9) === 0) player.hp = dice.nextInt(0, 99)
    if (dice.nextInt(0, 19) === 0) player.name = `n${dice.nextInt(0, 50)}`
    if (dice.nextInt(0, 19) === 0) player.shield = player.shield === null ? { strength: 0.5 } : null
    if (dice.nextInt(0, 200) === 0) player.at = { x: dice.nextInt(-900, 900), y: 0, z: 0 }
    if (dice.nextInt(0, 60) === 0) world.despawn(player)
  }
  if (dice.nextInt(0, 4) === 0)
    world.spawn(
      Player,
      { at: { x: dice.nextInt(-500, 500), y: 0, z: 0 }, speed: { x: 50, y: 0, z: 0 } },
      dice.nextInt(1, 4),
    )
}

/** Gives a view all rows of the newest tick, as a network without loss would. */
class Watcher {
  readonly view: World
  readonly received: Timeline
  readonly interpolator: Interpolator
  readonly #match: Match
  #known = new Set<number>()

  constructor(match: Match) {
    this.#match = match
    this.view = new World(ENTITIES, { isReadOnly: true, sharing: match.world })
    this.received = new Timeline(this.view, RATE)
    this.interpolator = new Interpolator(this.view, this.received, { tickRate: RATE })
  }

  receive(isReceived: (id: number) => boolean = () => true): void {
    const { world } = this.#match
    const alive = new Set<number>()
    for (const { type, rows } of world.stores) {
      const store = world.stores[type]!
      for (const handle of store.living()) {
        alive.add(handle.id)
        if (!isReceived(handle.id) && this.#known.has(handle.id)) continue
        this.received.put(world.tick, type, handle.id, handle.owner, rows, store.rowAt(handle))
        if (!this.#known.has(handle.id)) this.interpolator.enter(type, handle.id, world.tick)
      }
    }
    for (const id of this.#known) if (!alive.has(id)) this.interpolator.leave(id, world.tick)
    this.#known = alive
  }

  draw(moment: number): Map<number, readonly number[]> {
    this.interpolator.smoother.begin(0.01)
    this.interpolator.draw(moment)
    return cellsOf(this.view)
  }
}

/** The cells of every player, to the bit. */
function cellsOf(of: World | Past): Map<number, readonly number[]> {
  const cells = new Map<number, readonly number[]>()
  for (const player of of.each(Player))
    cells.set(player.id, [player.owner, ...(player as unknown as { $cells: Float64Array }).$cells])
  return cells
}

describe('the past', () => {
  test('[REWIND1] is what a client drew at that moment, to the bit of every cell', () => {
    let [compared, moments] = [0, 0]
    for (let seed = 1; seed <= 12; seed++) {
      const dice = new Prng(seed)
      const match = new Match()
      const watcher = new Watcher(match)
      const drawn: { readonly moment: number; readonly cells: Map<number, readonly number[]> }[] = []
      for (let count = 0; count < 120; count++) {
        match.tick((world) => wander(world, dice))
        watcher.receive()
        if (count < 10) continue
        const moment = match.world.tick - 4 + dice.nextInt(0, 255) / 256
        drawn.push({ moment, cells: watcher.draw(moment) })
        const shot = drawn[Math.max(0, drawn.length - 1 - dice.nextInt(0, 18))]!
        const seen = match.rewinder.rewind(99, shot.moment, cellsOf)
        moments++
        for (const [id, cells] of seen) {
          expect(cells, `seed ${seed} object ${id} at ${shot.moment}`).toEqual(shot.cells.get(id))
          compared++
        }
        // Only players that died since may be missing.
        for (const id of shot.cells.keys()) if (!seen.has(id)) expect(match.world.objects.isAlive(id)).toBe(false)
      }
      expect([match.rewinder.clamped, match.rewinder.refused, watcher.interpolator.smoother.corrections]).toEqual([
        0, 0, 0,
      ])
    }
    expect(moments).toBeGreaterThan(1000)
    expect(compared).toBeGreaterThan(5000)
  })

  test('[REWIND1] is the same for a client that received only some ticks, when those ticks are given', () => {
    const dice = new Prng(4)
    const match = new Match()
    const watcher = new Watcher(match)
    const players = [1, 2, 3].map((owner) =>
      match.world.spawn(Player, { at: { x: 10 * owner, y: 0, z: 0 }, speed: { x: 50, y: 0, z: 20 } }, owner),
    )
    const received = new Set<string>()
    let differences = 0
    for (let count = 0; count < 200; count++) {
      match.tick((world) => {
        for (const player of world.each(Player)) {
          player.at.x += player.speed.x / RATE
          if (dice.nextInt(0, 5) === 0) player.speed = { x: dice.nextInt(-90, 90), y: 0, z: 0 }
        }
      })
      watcher.receive((id) => {
        const isReceived = dice.nextInt(0, 3) === 0 || count === 0 || count % 10 === 9
        if (isReceived) received.add(`${id} ${match.world.tick}`)
        return isReceived
      })
      if (count === 0) for (const { id } of players) received.add(`${id} 1`)
      // After each tenth tick, which every client receives: all moments before it lie between received rows.
      if (count % 10 !== 9) continue
      const moment = match.world.tick - 5 + dice.nextInt(0, 255) / 256
      const drawn = watcher.draw(moment)
      const acked = { wasAcked: (id: number, tick: number) => received.has(`${id} ${tick}`) }
      expect(match.rewinder.rewind(99, moment, cellsOf, acked)).toEqual(drawn)
      if (JSON.stringify([...match.rewinder.rewind(99, moment, cellsOf)]) !== JSON.stringify([...drawn])) differences++
    }
    expect(differences).toBeGreaterThan(5)
  })

  test('[REWIND1] a ring remembers which ticks were acknowledged', () => {
    const ring = new AckedRing(8)
    for (const tick of [3, 9, 6, 1]) ring.note(tick)
    expect([1, 3, 6, 9, 11, 17].filter((tick) => ring.wasAcked(1, tick))).toEqual([3, 6, 9])
  })

  test('[REWIND2] is read-only, and leaves the world as it is, even when the callback throws', () => {
    const match = new Match()
    const player = match.world.spawn(Player, { hp: 50, name: 'who' }, 3)
    const hash = new StateHash(match.world)
    for (let count = 0; count < 30; count++)
      match.tick((world) => {
        for (const each of world.each(Player)) each.at.x += 1
      })
    const before = [...hash.update()]
    const { structure, samples } = match.world
    const write = (past: Past): void => { (past.get(Player, player.id) as unknown as { hp: number }).hp = 1 }
    expect(() => match.rewinder.rewind(1, 15.5, write)).toThrow(TypeError)
    expect(() => match.rewinder.rewind(1, 15.5, () => match.rewinder.rewind(1, 15.5, () => {}))).toThrow(
      'within a rewind',
    )
    expect(match.rewinder.rewind(1, 15.5, (past) => past.get(Player, player.id)?.at.x)).toBe(15.5)
    expect([...hash.update()]).toEqual(before)
    expect([match.world.structure, match.world.samples, player.hp, player.at.x]).toEqual([structure, samples, 50, 30])
    // The live world is written while the past is read.
    match.rewinder.rewind(1, 15.5, (past) => {
      for (const seen of past.each(Player)) match.world.get(Player, seen.id)!.hp -= 20
    })
    expect(player.hp).toBe(30)
  })

  test("[REWIND3] has the shooter's own object as it is now, and no object that spawned later", () => {
    const match = new Match()
    const own = match.world.spawn(Player, {}, 1)
    const other = match.world.spawn(Player, {}, 2)
    const walk = (world: World): void => { for (const each of world.each(Player)) each.at.x += 1 }
    for (let count = 0; count < 20; count++) match.tick(walk)
    const late = match.world.spawn(Player, {}, 2)
    for (let count = 0; count < 10; count++) match.tick(walk)
    own.at.x = 77
    const seen = (viewTick: number): (number | undefined)[] =>
      match.rewinder.rewind(1, viewTick, (past) => [own, other, late].map(({ id }) => past.get(Player, id)?.at.x))
    expect(seen(12.25)).toEqual([77, 12.25, undefined])
    expect(seen(20.25)).toEqual([77, 20.25, undefined])
    expect(seen(20.5)).toEqual([77, 20.5, 1])
    expect(seen(25)).toEqual([77, 25, 5])
  })

  test('[REWIND3] has the entities with hitboxes, and those that were requested', () => {
    const count = (options: Partial<RewindOptions>): number => {
      const match = new Match(options)
      match.world.spawn(Tree, { height: 5 })
      match.tick()
      return match.rewinder.rewind(1, 1, (past) => [...past.each(Tree)].length)
    }
    expect([count({}), count({ entities: [Tree] })]).toEqual([0, 1])
  })
})

describe('limits', () => {
  const walked = (
    options: Partial<RewindOptions>,
    ticks: number,
  ): { readonly match: Match; readonly player: ObjectOf<typeof Player> } => {
    const match = new Match(options)
    const player = match.world.spawn(Player, {}, 2)
    for (let count = 0; count < ticks; count++) match.tick(() => { player.at.x += 1 })
    return { match, player }
  }

  test('[REWIND4] a moment too far back, in the future, or not a number is clamped and counted', () => {
    const { match, player } = walked({ maxMs: 250 }, 90)
    const seen = [80, 65, 64.5, 10, -4, 90, 91, Infinity, NaN].map((viewTick) =>
      match.rewinder.rewind(1, viewTick, (past) => past.get(Player, player.id)!.at.x),
    )
    expect(seen).toEqual([80, 65, 65, 65, 65, 90, 90, 90, 90])
    expect([match.rewinder.clamped, match.rewinder.rewinds]).toEqual([6, 9])
    expect(() => walked({ maxMs: 990 }, 1)).toThrow('maxMs')
    expect(() => walked({ perTick: -1 }, 1)).toThrow('perTick')
  })

  test('[REWIND5] beyond the limit of rewinds per tick, every caller sees the newest tick, posed once', () => {
    const { match, player } = walked({ perTick: 2 }, 30)
    const seen = (): number => match.rewinder.rewind(1, 20, (past) => past.get(Player, player.id)!.at.x)
    expect([seen(), seen(), seen(), seen(), seen()]).toEqual([20, 20, 30, 30, 30])
    expect([match.rewinder.refused, match.rewinder.posed]).toEqual([3, 3])
    match.tick()
    expect([seen(), match.rewinder.distanceTicks]).toEqual([20, 11])
  })

  test('[REWIND4] a shot of 150 ms ago hits what was seen then; a shot of 800 ms ago does not', () => {
    const { match, player } = walked({}, 95)
    const shoot = (viewTick: number, x: number): number | undefined => match.rewinder.rewind(1, viewTick, (past) =>
      past.cast({ from: { x, y: 0, z: 50 }, direction: { x: 0, y: 0, z: -1 }, ignore: 1 })?.id)
    expect(shoot(80, 80)).toBe(player.id)
    expect(shoot(80, 95)).toBeUndefined()
    expect(shoot(15, 15)).toBeUndefined()
  })
})
