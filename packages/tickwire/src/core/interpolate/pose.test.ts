import { describe, expect, test } from 'vitest'
import { Rock, RATE, Ship, Stage } from '../../../../../test/reference/received-stage.ts'

describe('without new rows', () => {
  test('[RECKON1] constant acceleration is extrapolated exactly, and turns continue', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, {
      at: { x: 1, y: 2 },
      speed: { x: 8, y: -4 },
      push: { x: 2, y: 16 },
      yaw: 3,
      turning: 2,
    })
    stage.receive(ship, 100)
    stage.draw(100)
    for (let ticks = 0.25; ticks <= 20; ticks += 0.25) {
      stage.draw(100 + ticks)
      const s = ticks / RATE
      const seen = stage.see(ship.id)!
      expect(seen.at.x).toBeCloseTo(1 + 8 * s + s * s, 12)
      expect(seen.at.y).toBeCloseTo(2 - 4 * s + 8 * s * s, 12)
      expect(seen.speed.y).toBeCloseTo(-4 + 16 * s, 12)
      expect(Math.cos(seen.yaw - ship.yaw - ship.turning * s)).toBeCloseTo(1, 12)
      expect(Math.abs(seen.yaw)).toBeLessThanOrEqual(Math.PI)
      expect(stage.interpolator.modeOf(ship.id)).toBe('extrapolate')
    }
  })

  test('[RECKON1] rotations turn around the axes of the world', () => {
    const stage = new Stage(Rock)
    const rock = stage.world.spawn(Rock, { spin: { x: 0, y: 0, z: 0, w: 1 }, rate: { x: 0, y: 5, z: 0 } })
    stage.receive(rock, 1)
    stage.draw(1)
    stage.draw(21)
    const { y, w } = stage.see(rock.id)!.spin
    expect([y, w]).toEqual([expect.closeTo(Math.sin(0.5), 9), expect.closeTo(Math.cos(0.5), 9)])
  })

  test('[RECKON2] in an outage of two seconds an object moves for a quarter second, then it holds', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { speed: { x: 100, y: 0 } })
    stage.receive(ship, 50)
    let most = 0
    for (let moment = 50; moment <= 250; moment += 1.5) {
      stage.draw(moment)
      most = Math.max(most, stage.see(ship.id)!.at.x)
    }
    expect(most).toBe(25)
    expect(stage.interpolator.modeOf(ship.id)).toBe('hold')
    expect([...stage.interpolator.drawn]).toEqual([0, 0, 0, 1])
  })

  test('[RECKON2] nothing is extrapolated out of the bounds of its field', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { at: { x: 999, y: 0 }, speed: { x: 100, y: 0 } })
    stage.receive(ship, 50)
    stage.draw(90)
    expect(stage.see(ship.id)!.at.x).toBe(1000)
  })

  test('[RECKON3] an object that rested while others got rows stays where it is, whatever its velocity says', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { at: { x: 3, y: 0 }, speed: { x: 50, y: 0 } })
    stage.receive(ship, 10)
    stage.interpolator.receivedTick = 30
    const modes = [10, 20, 30, 31, 90].map((moment) => {
      stage.draw(moment)
      return [stage.see(ship.id)!.at.x, stage.interpolator.modeOf(ship.id)]
    })
    expect(modes).toEqual([[3, 'interpolate'], [3, 'interpolate'], [3, 'interpolate'], [3, 'hold'], [3, 'hold']])
  })

  test('[RECKON3] an object that gets rows in turns, for lack of space, is extrapolated between them', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { speed: { x: 50, y: 0 } })
    const modes = new Set<string>()
    for (let moment = 5; moment < 80; moment += 0.5) {
      stage.interpolator.receivedTick = Math.floor(moment) + 2
      if (moment % 6 === 0) {
        ship.at.x = moment * 0.5
        stage.receive(ship, moment)
      }
      stage.draw(moment, 0.005)
      if (moment < 10) continue
      modes.add(stage.interpolator.modeOf(ship.id))
      expect(stage.see(ship.id)!.at.x).toBeCloseTo(moment * 0.5, 9)
    }
    expect([...modes]).toEqual(['extrapolate', 'interpolate'])
  })

  test('[RECKON3] an object that runs into a wall and gets no more rows is back at the wall after a few ticks', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { speed: { x: 50, y: 0 } })
    for (let tick = 1; tick < 60; tick++) {
      if (tick <= 20) {
        ship.at.x = tick * 0.5
        stage.receive(ship, tick)
      }
      stage.interpolator.receivedTick = tick
      stage.draw(tick - 2, 0.01)
      if (tick > 3) expect(stage.see(ship.id)!.at.x).toBeLessThan(10 + 3 * 0.5)
    }
    expect(stage.see(ship.id)!.at.x).toBeCloseTo(10, 1)
    expect(stage.interpolator.modeOf(ship.id)).toBe('interpolate')
  })

  test('[RECKON3] a start after a rest is not spread over the rest when the row before it is put', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { at: { x: 3, y: 0 } })
    stage.receive(ship, 10)
    stage.receive(ship, 59)
    ship.at.x = 4
    stage.receive(ship, 60)
    const seen = [10, 40, 59, 59.5, 60].map((moment) => {
      stage.draw(moment)
      return stage.see(ship.id)!.at.x
    })
    expect(seen).toEqual([3, 3, 3, 3.5, 4])
  })

  test('[RECKON3] without that row, the start is spread at most over the gap between snapshots', () => {
    const stage = new Stage(Ship)
    const ship = stage.world.spawn(Ship, { at: { x: 3, y: 0 } })
    stage.receive(ship, 10)
    for (let moment = 10; moment < 58; moment += 2) {
      stage.interpolator.receivedTick = moment + 2
      stage.draw(moment)
    }
    ship.at.x = 4
    stage.receive(ship, 60)
    stage.interpolator.receivedTick = 60
    const seen = [57, 58, 59, 60].map((moment) => {
      stage.draw(moment)
      return stage.see(ship.id)!.at.x
    })
    expect(seen).toEqual([3, 3, 3.5, 4])
    expect(stage.interpolator.smoother.corrections).toBe(0)
  })

  test('[RECKON5] after a silence beyond the window, a moved object jumps at once, and a resting one waits', () => {
    const stage = new Stage(Ship)
    const runner = stage.world.spawn(Ship, { speed: { x: 10, y: 0 } })
    const stander = stage.world.spawn(Ship, { at: { x: 3, y: 0 } })
    stage.receive(stander, 1)
    for (let tick = 1; tick <= 50; tick++) {
      runner.at.x = tick / RATE * 10
      stage.receive(runner, tick)
      stage.interpolator.receivedTick = tick
      if (tick > 4) stage.draw(tick - 4)
    }
    for (let moment = 47; moment < 2046; moment++) stage.draw(moment)
    const held = stage.see(runner.id)!.at.x
    // The first packet has the time and no rows. That does not mean that objects rest.
    stage.interpolator.receivedTick = 2050
    stage.draw(2046)
    expect(stage.see(runner.id)!.at.x).toBe(held)
    expect(stage.interpolator.modeOf(runner.id)).toBe('hold')
    expect(stage.interpolator.modeOf(stander.id)).toBe('interpolate')
    runner.at.x = held + 8
    stander.at.x = 5
    stage.receive(runner, 2060)
    stage.receive(stander, 2060)
    stage.interpolator.receivedTick = 2060
    const seen = [2047, 2050, 2055, 2059].map((moment) => {
      stage.draw(moment)
      return [stage.see(runner.id)!.at.x - held, stage.see(stander.id)!.at.x]
    })
    expect(stage.interpolator.modeOf(runner.id)).toBe('extrapolate')
    expect(seen.map(([x]) => x)).toEqual(seen.map(([x]) => x).toSorted((a, b) => a! - b!))
    // Four draws of 10 ms are half a half-life.
    expect(seen.at(-1)![0]).toBeGreaterThan(2)
    expect(seen.map(([, x]) => x)).toEqual([3, 3, 3, 3])
    for (let moment = 2060; moment < 2160; moment++) stage.draw(moment)
    expect(stage.see(stander.id)!.at.x).toBe(5)
  })

  test('[RECKON4] an object is drawn however long it rests, although its row has left the window', () => {
    const stage = new Stage(Ship)
    const [ship, other] = [stage.world.spawn(Ship, { at: { x: 3, y: 0 } }), stage.world.spawn(Ship, {})]
    stage.receive(ship, 10)
    for (let tick = 10; tick < 2000; tick += 20) stage.receive(other, tick)
    stage.draw(1900)
    expect(stage.see(ship.id)!.at.x).toBe(3)
    ship.at.x = 5
    stage.receive(ship, 1950)
    stage.draw(1940)
    expect(stage.see(ship.id)!.at.x).toBe(3)
    stage.draw(1949.5)
    expect(stage.see(ship.id)!.at.x).toBeGreaterThan(3)
    expect(stage.see(ship.id)!.at.x).toBeLessThan(3.2)
    for (let moment = 1950; moment < 2100; moment++) stage.draw(moment)
    expect(stage.see(ship.id)!.at.x).toBe(5)
  })
})
