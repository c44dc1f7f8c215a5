import { describe, expect, test } from 'vitest'
import { ClientObjects } from './client-objects.ts'

const OBJECT = 3

/** An object whose rows of ticks 10 and 12 are acknowledged, at one snapshot every two ticks. */
function paired(usesPairs = true): ClientObjects {
  const objects = new ClientObjects(2, usesPairs)
  objects.reserve(32)
  objects.enter(OBJECT, 77, 0, 0, 10)
  for (let tick = 10; tick <= 40; tick += 2) objects.send(OBJECT, tick, true)
  acknowledge(objects, 10, 12)
  return objects
}

function acknowledge(objects: ClientObjects, ...ticks: readonly number[]): void {
  for (const tick of ticks) objects.promote(OBJECT, tick, false, 0)
}

/** The baseline, and whether the client holds the row before it. */
const stateOf = (objects: ClientObjects): [number, boolean] => [objects.baseOf(OBJECT), objects.isPaired(OBJECT)]

describe('[REPL9] the baseline of an object', () => {
  test('is the newest acknowledged row, with the row before it if that is acknowledged too', () => {
    expect(stateOf(paired())).toEqual([12, true])
    const objects = paired()
    acknowledge(objects, 14, 16)
    expect(stateOf(objects)).toEqual([16, true])
  })

  test('stays with its pair after a lost row, until there is a newer pair', () => {
    const objects = paired()
    acknowledge(objects, 16)
    expect(stateOf(objects)).toEqual([12, true])
    acknowledge(objects, 18)
    expect(stateOf(objects)).toEqual([18, true])
  })

  test('moves to the pair that a late acknowledgement completes', () => {
    const objects = paired()
    acknowledge(objects, 16, 14)
    expect(stateOf(objects)).toEqual([16, true])
    acknowledge(objects, 20, 22)
    expect(stateOf(objects)).toEqual([22, true])
  })

  test('gives its pair up after four snapshots without a newer one', () => {
    const objects = paired()
    acknowledge(objects, 16, 20)
    expect(stateOf(objects)).toEqual([12, true])
    acknowledge(objects, 24)
    expect(stateOf(objects)).toEqual([24, false])
    acknowledge(objects, 26)
    expect(stateOf(objects)).toEqual([26, true])
  })

  test('is the newest row where no newer row is on its way, and where coders use one row only', () => {
    const resting = new ClientObjects(2, true)
    resting.reserve(32)
    resting.enter(OBJECT, 77, 0, 0, 10)
    for (const tick of [10, 12, 16]) resting.send(OBJECT, tick, true)
    acknowledge(resting, 10, 12, 16)
    expect(stateOf(resting)).toEqual([16, false])
    const single = paired(false)
    acknowledge(single, 16)
    expect(stateOf(single)).toEqual([16, false])
  })

  test('never has a pair of rows that are not one stride apart', () => {
    const objects = paired()
    acknowledge(objects, 15)
    expect(stateOf(objects)).toEqual([15, false])
    acknowledge(objects, 16)
    expect(stateOf(objects)).toEqual([16, false])
  })

  test('starts over with another stay: earlier acknowledgements do not count', () => {
    const objects = paired()
    acknowledge(objects, 16)
    objects.restart(OBJECT, 1, 30)
    acknowledge(objects, 18, 32)
    expect(stateOf(objects)).toEqual([32, false])
  })
})
