import { describe, expect, test } from 'vitest'
import { InvariantError } from '../core/base/assert.ts'
import { type SimActor, SimClock } from './sim-clock.ts'

/** Wakes at given times. */
class Alarm implements SimActor {
  readonly woken: number[] = []
  readonly times: number[]

  constructor(...times: number[]) {
    this.times = times
  }

  nextAt(): number {
    return this.times[0] ?? Infinity
  }

  wake(now: number): void {
    this.woken.push(now)
    this.times.shift()
  }
}

describe('sim clock', () => {
  test('time jumps from deadline to deadline and stops at the given time', () => {
    const clock = new SimClock(100)
    const alarm = new Alarm(150, 3_600_150, 3_600_151)
    clock.add(alarm)
    clock.drive(3_600_050)
    expect(alarm.woken).toEqual([150, 3_600_150])
    expect(clock.now).toBe(3_600_150)
    clock.drive(10)
    expect(clock.now).toBe(3_600_160)
  })

  test('a deadline in the past is now, and time does not go back', () => {
    const clock = new SimClock(100)
    const alarm = new Alarm(5, -Infinity)
    clock.add(alarm)
    clock.drive(0)
    expect(alarm.woken).toEqual([100, 100])
  })

  test('driveUntil stops at the moment its condition is true', () => {
    const clock = new SimClock()
    const alarm = new Alarm(10, 20, 30)
    clock.add(alarm)
    expect(clock.driveUntil(() => alarm.woken.length === 2, 1000)).toBe(true)
    expect(clock.now).toBe(20)
    expect(clock.driveUntil(() => false, 5)).toBe(false)
    expect(clock.now).toBe(25)
  })

  test('an actor that is always due is detected', () => {
    const clock = new SimClock()
    clock.add({ nextAt: () => 0, wake() {} })
    expect(() => clock.drive(1)).toThrow(InvariantError)
  })

  test('an actor that was removed is not woken', () => {
    const clock = new SimClock()
    const alarm = new Alarm(10)
    clock.add(alarm)
    clock.remove(alarm)
    clock.drive(100)
    expect(alarm.woken).toEqual([])
  })
})
