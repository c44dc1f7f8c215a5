import { describe, expect, test } from 'vitest'
import { Rock, RATE, Ship, Stage } from '../../../../../test/reference/received-stage.ts'
import { Prng } from '../base/prng.ts'

describe('between two rows', () => {
  test('[INTERP1] constant velocity is drawn as constant velocity, whichever ticks are received', () => {
    const dice = new Prng(1)
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, {})
    for (let tick = 0; tick < 60; tick += dice.nextInt(1, 7)) {
      ship.at = { x: 0.5 * tick, y: -0.25 * tick }
      stage.receive(ship, tick)
    }
    let last = NaN
    for (let moment = 1; moment < 50; moment += 0.375) {
      stage.draw(moment)
      const { x, y } = stage.see(ship.id)!.at
      expect(x).toBeCloseTo(0.5 * moment, 9)
      expect(y).toBeCloseTo(-0.25 * moment, 9)
      if (last === last) expect(x - last).toBeCloseTo(0.5 * 0.375, 9)
      last = x
      expect(stage.interpolator.modeOf(ship.id)).toBe('interpolate')
    }
  })

  test('[INTERP2] 350 degrees to 10 degrees goes through 0', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { yaw: 350 * Math.PI / 180 })
    stage.receive(ship, 10)
    ship.yaw = 10 * Math.PI / 180
    stage.receive(ship, 12)
    const seen = [10, 10.5, 11, 11.5].map((moment) => {
      stage.draw(moment)
      return stage.see(ship.id)!.yaw * 180 / Math.PI
    })
    ;[-10, -5, 0, 5].forEach((degrees, at) => expect(seen[at]).toBeCloseTo(degrees, 3))
  })

  test('[INTERP2] 170 degrees to -170 degrees goes through 180, and stays an angle', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { yaw: 170 * Math.PI / 180 })
    stage.receive(ship, 10)
    ship.yaw = -170 * Math.PI / 180
    stage.receive(ship, 12)
    const seen = [10.5, 11.25, 11.5].map((moment) => {
      stage.draw(moment)
      return stage.see(ship.id)!.yaw * 180 / Math.PI
    })
    ;[175, -177.5, -175].forEach((degrees, at) => expect(seen[at]).toBeCloseTo(degrees, 3))
  })

  test('[INTERP2] rotations take the short way at constant speed, whatever their sign', () => {
    const turned = (degrees: number, sign: number): { x: number; y: number; z: number; w: number } =>
      ({ x: 0, y: 0, z: sign * Math.sin(degrees * Math.PI / 360), w: sign * Math.cos(degrees * Math.PI / 360) })
    const stage = new Stage(Rock)
    const rock = stage.world.spawn(Rock, { spin: turned(170, 1) })
    stage.receive(rock, 1)
    rock.spin = turned(190, -1)
    stage.receive(rock, 5)
    for (const [moment, degrees] of [[2, 175], [3, 180], [4, 185]] as const) {
      stage.draw(moment)
      const { z, w } = stage.see(rock.id)!.spin
      expect(Math.abs(z * turned(degrees, 1).z + w * turned(degrees, 1).w)).toBeCloseTo(1, 5)
    }
  })

  test('[INTERP3] a value that does not blend is that of the nearer row; so are owners, texts and groups', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { hull: 10, name: 'one', shield: { strength: 100, lit: false } }, 3)
    stage.receive(ship, 10)
    Object.assign(ship, { hull: 90, name: 'two', shield: { strength: 200, lit: true } })
    stage.world.setOwner(ship, 4)
    stage.receive(ship, 12)
    ship.shield = null
    stage.receive(ship, 14)
    const seen = [10.75, 11, 12.75, 13].map((moment) => {
      stage.draw(moment)
      const { hull, name, shield, owner } = stage.see(ship.id)!
      return [hull, name, owner, shield && { strength: shield.strength, lit: shield.lit }]
    })
    expect(seen).toEqual([
      [10, 'one', 3, { strength: 137.5, lit: false }], [90, 'two', 4, { strength: 150, lit: true }],
      [90, 'two', 4, { strength: 200, lit: true }], [90, 'two', 4, null],
    ])
  })

  test('[INTERP4] an object that moved further than it can is drawn at either end, never in between', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { at: { x: -900, y: 0 }, yaw: 0 })
    stage.receive(ship, 10)
    ship.at.x = 900
    stage.receive(ship, 14)
    const seen = [11, 11.99, 12, 13].map((moment) => {
      stage.draw(moment)
      return stage.see(ship.id)!.at.x
    })
    expect(seen).toEqual([-900, -900, 900, 900])
  })
})

describe('spawn and despawn', () => {
  test('[INTERP5] it appears half a tick before its first row, and stays until the tick it is gone', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { hull: 7 })
    stage.receive(ship, 20)
    stage.receive(ship, 21)
    stage.interpolator.leave(ship.id, 24)
    const seen = [19, 19.49, 19.5, 20, 23.99, 24, 25].map((moment) => {
      stage.draw(moment)
      return stage.see(ship.id)?.hull
    })
    expect(seen).toEqual([undefined, undefined, 7, 7, 7, undefined, undefined])
    expect(stage.shown).toEqual(['+0', '-0'])
  })

  test('[INTERP5] an object that is known to be gone soon is not extrapolated', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { at: { x: 1, y: 1 }, speed: { x: 100, y: 0 } })
    stage.receive(ship, 20)
    stage.interpolator.leave(ship.id, 24)
    stage.draw(20)
    stage.draw(23)
    expect(stage.see(ship.id)!.at.x).toBe(1)
  })

  test('[INTERP6] its index may be reused, or it may return, while it is still drawn', () => {
    const stage = new Stage(Ship)
    const first = stage.world.spawn(Ship, { hull: 1 })
    stage.receive(first, 10)
    stage.interpolator.leave(first.id, 14)
    stage.world.beginTick()
    stage.world.despawn(first)
    stage.world.endTick()
    const second = stage.world.spawn(Ship, { hull: 2 })
    expect(second.id >>> 16).toBe(first.id >>> 16)
    stage.receive(second, 16)
    stage.interpolator.leave(second.id, 18)
    const seen = [10, 13.75, 14, 15.25, 15.5, 17.75, 18, 19.25, 19.5, 30].map((moment) => {
      // The second life is drawn now. Only one following life is kept.
      if (moment === 17.75) stage.receive(second, 20, true)
      stage.draw(moment)
      return [stage.see(first.id)?.hull ?? 0, stage.see(second.id)?.hull ?? 0].join('')
    })
    expect(seen).toEqual(['10', '10', '00', '00', '02', '02', '00', '00', '02', '02'])
    expect(stage.shown).toEqual(['+0', '-0', '+0', '-0', '+0'])
  })

  test('[INTERP6] an object that spawned and despawned between two draws is not shown', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { hull: 1 })
    stage.receive(ship, 10)
    stage.draw(10)
    stage.interpolator.leave(ship.id, 14)
    stage.receive(ship, 20, true)
    stage.interpolator.leave(ship.id, 24)
    stage.draw(60)
    expect(stage.see(ship.id)).toBeNull()
    expect(stage.shown).toEqual(['+0', '-0'])
  })

  test('[INTERP6] an object that appears at an index ends the previous one, even if that was not known gone', () => {
    const stage = new Stage(Ship)
    const first = stage.world.spawn(Ship, { hull: 1 })
    stage.receive(first, 10)
    stage.draw(10)
    stage.world.beginTick()
    stage.world.despawn(first)
    stage.world.endTick()
    const second = stage.world.spawn(Ship, { hull: 2 })
    stage.receive(second, 12, true)
    stage.draw(11.5)
    expect([stage.see(first.id), stage.see(second.id)!.hull]).toEqual([null, 2])
  })

  test('[INTERP7] a predicted object is left alone, and is drawn on from there when prediction gives it up', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { at: { x: 5, y: 0 } })
    stage.receive(ship, 10)
    stage.interpolator.setLocal(ship.id, true)
    stage.draw(11)
    expect(stage.see(ship.id)).toBeNull()
    const handle = stage.view.seat(0, ship.id, 0)
    handle.$cells[0] = 9
    stage.draw(12)
    expect(stage.see(ship.id)!.at.x).toBe(9)
    stage.interpolator.setLocal(ship.id, false)
    stage.draw(12, 0.001)
    expect(stage.see(ship.id)!.at.x).toBeGreaterThan(8.9)
    for (let count = 0; count < 200; count++) stage.draw(12)
    expect(stage.see(ship.id)!.at.x).toBe(5)
  })
})

describe('beside prediction', () => {
  test('[INTERP7] an object that prediction removes stays out, and one that prediction keeps is not removed', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { hull: 1 })
    stage.receive(ship, 10)
    stage.draw(10)
    stage.interpolator.setLocal(ship.id, true)
    stage.interpolator.setLocal(ship.id, false)
    stage.view.unseat(stage.view.atIndexOf(ship.id)!)
    stage.draw(11)
    expect(stage.see(ship.id)).toBeNull()
    // Another object gets the index of an object that is predicted to live on.
    stage.world.beginTick()
    stage.world.despawn(ship)
    stage.world.endTick()
    const next = stage.world.spawn(Ship, { hull: 2 })
    stage.view.seat(0, ship.id, 0)
    stage.interpolator.setLocal(ship.id, true)
    stage.receive(next, 14, true)
    stage.draw(15)
    expect([stage.see(ship.id)?.isAlive, stage.see(next.id)]).toEqual([true, null])
    stage.view.unseat(stage.view.atIndexOf(ship.id)!)
    stage.draw(16)
    expect(stage.see(next.id)?.hull).toBe(2)
  })
})

describe('drawn objects never jump', () => {
  test('[INTERP8] when new rows contradict the extrapolation, the object continues from where it was drawn', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { speed: { x: 100, y: 0 } })
    stage.receive(ship, 10)
    stage.draw(10)
    stage.draw(20)
    const before = stage.see(ship.id)!.at.x
    expect(before).toBe(10)
    // The ship had turned round immediately.
    Object.assign(ship, { at: { x: -10, y: 0 }, speed: { x: -100, y: 0 } })
    stage.receive(ship, 20)
    stage.draw(20, 0)
    expect(stage.see(ship.id)!.at.x).toBe(before)
    stage.draw(20.1, 0.001)
    expect(Math.abs(stage.see(ship.id)!.at.x - before)).toBeLessThan(0.2)
    ship.at.x = -20
    stage.receive(ship, 30)
    for (let moment = 20.5; moment <= 30; moment += 0.5) stage.draw(moment, 0.005)
    expect(stage.see(ship.id)!.at.x).toBeGreaterThan(-20)
    for (let count = 0; count < 300; count++) stage.draw(30, 0.01)
    expect(stage.see(ship.id)!.at.x).toBe(-20)
  })

  test('[INTERP8] over random paths, ticks, jitter and loss, no draw moves further than speed and spring allow', () => {
    let [extrapolated, corrections] = [0, 0]
    for (let seed = 1; seed <= 40; seed++) {
      const dice = new Prng(seed)
      const stage = new Stage(Ship)
      const ship = stage.world.spawn(Ship, {})
      const arrivals: { readonly at: number; readonly tick: number }[] = []
      const path: { x: number; v: number }[] = []
      let [x, v] = [0, 0]
      for (let tick = 0; tick < 400; tick++) {
        if (dice.nextInt(0, 30) === 0) v = dice.nextInt(-50, 50)
        x = Math.max(-900, Math.min(900, x + v / RATE))
        path.push({ x, v })
        const isLost = dice.nextInt(0, 9) < 3 || (tick > 150 && tick < 200)
        if (!isLost) arrivals.push({ at: tick + dice.nextInt(2, 9), tick })
      }
      let last = NaN
      for (let moment = 5; moment < 390; moment += 0.5) {
        for (const { tick } of arrivals.filter(({ at }) => at > moment + 4.5 && at <= moment + 5)) {
          Object.assign(ship, { at: { x: path[tick]!.x, y: 0 }, speed: { x: path[tick]!.v, y: 0 } })
          stage.receive(ship, tick)
        }
        stage.draw(moment, 0.005)
        const seen = stage.see(ship.id)?.at.x
        if (stage.interpolator.modeOf(ship.id) === 'extrapolate') extrapolated++
        // 50 units a second; and of 50 units (after the long outage) the spring gives back 50 w / e a second at most.
        if (seen !== undefined && last === last)
          expect(Math.abs(seen - last), `seed ${seed} at ${moment}`).toBeLessThan((50 + (50 * 21) / Math.E) * 0.005)
        last = seen ?? NaN
      }
      corrections += stage.interpolator.smoother.corrections
    }
    expect(Math.min(extrapolated, corrections)).toBeGreaterThan(200)
  })
})

test('[INTERP9] after `clear` no object is shown', () => {
  const stage = new Stage(Ship)
  const ship = stage.world.spawn(Ship, {})
  stage.receive(ship, 10)
  stage.draw(10)
  stage.interpolator.clear()
  expect([stage.see(ship.id), stage.view.count(Ship), stage.interpolator.modeOf(ship.id)]).toEqual([null, 0, 'hidden'])
  stage.draw(11)
  expect(stage.shown).toEqual(['+0', '-0'])
})
