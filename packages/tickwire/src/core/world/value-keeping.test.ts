import { describe, expect, test } from 'vitest'
import { VALUE_SWEEP_ENTRIES_MIN } from '../base/limits.ts'
import { entity } from '../schema/definition.ts'
import { bytes, list, text, u8 } from '../schema/field-kinds.ts'
import { SaveSlots } from './save-slots.ts'
import { Timeline } from './timeline.ts'
import { World } from './world.ts'

const Note = entity({ text: text(40), tags: list(u8, 4), blob: bytes(16_000) }, { name: 'Note' })

/** Ticks that leave enough garbage for several collections. */
const MANY = 4 * VALUE_SWEEP_ENTRIES_MIN

function churn(world: World, ticks: number, write: (tick: number) => void): number {
  let most = 0
  for (let count = 0; count < ticks; count++) {
    world.beginTick()
    write(world.tick)
    world.endTick()
    most = Math.max(most, world.heap.size)
  }
  return most
}

describe('values of variable size', () => {
  test('[WORLD13] a match of hours with ever new texts stays within its limits', () => {
    const world = new World([Note])
    const notes = Array.from({ length: 20 }, () => world.spawn(Note, {}))
    const slots = new SaveSlots(world, 8)
    const timeline = new Timeline(world, 16)
    const most = churn(world, 100_000, (tick) => {
      notes[tick % 20]!.text = `said in tick ${tick}`
      if (tick % 3 === 0) slots.save(tick % 8)
      if (timeline.newest >= 0 || tick > 0) timeline.sample()
    })
    // 20 alive, the saved ones and the 16 of the Timeline are held; the heap is swept at twice that or at 256.
    expect(most).toBeLessThanOrEqual(VALUE_SWEEP_ENTRIES_MIN)
    expect(notes[7]!.text).toBe(`said in tick ${100_000 - 13}`)
  })

  test('[WORLD13] large values are released by their bytes', () => {
    const world = new World([Note])
    const note = world.spawn(Note, {})
    let most = 0
    churn(world, 500, (tick) => {
      note.blob = new Uint8Array(16_000).fill(tick)
      most = Math.max(most, world.heap.sizeBytes)
    })
    expect(most).toBeLessThan(200_000)
  })

  test('[WORLD13] values in a save slot can be loaded, however much was released since', () => {
    const world = new World([Note])
    const note = world.spawn(Note, { text: 'kept', tags: [1, 2] })
    world.endTick()
    const slots = new SaveSlots(world, 2)
    slots.save(0)
    churn(world, MANY, (tick) => { note.text = `x${tick}` })
    slots.load(0)
    expect([note.text, note.tags]).toEqual(['kept', [1, 2]])
    slots.save(1)
    slots.clear(0)
    churn(world, MANY, (tick) => { note.text = `y${tick}` })
    slots.load(1)
    expect(note.text).toBe('kept')
  })

  test('[WORLD13] values in a Timeline can be read, and evicted ones are released', () => {
    const world = new World([Note])
    const note = world.spawn(Note, {})
    const timeline = new Timeline(world, 200)
    churn(world, MANY, (tick) => {
      note.text = `t${tick}`
      if (tick > 1) timeline.sample()
    })
    for (let tick = timeline.newest - 150; tick <= timeline.newest; tick++) {
      // The Timeline sampled before the tick ended, so it has the text of the tick before.
      expect(timeline.read(Note, note.id, tick, 'text')).toBe(`t${tick - 1}`)
    }
    expect(world.heap.size).toBeLessThan(2 * 256)
  })

  test('[WORLD13] values written in an unfinished tick are kept, and so are those of the last sample', () => {
    const world = new World([Note])
    const note = world.spawn(Note, { text: 'before' })
    world.endTick()
    note.text = 'after'
    for (let count = 0; count < 2 * VALUE_SWEEP_ENTRIES_MIN; count++) note.tags = [count % 256, count >> 8]
    world.collectValues()
    expect(note.text).toBe('after')
    const { rows, schema, heap } = world.stores[0]!
    expect(heap.get(schema.heapLeaves[0]!, rows[schema.laneCount + schema.heapLeaves[0]!.lane]!)).toBe('before')
    world.endTick()
    expect(note.text).toBe('after')
  })

  test('[WORLD13] dead objects keep no values', () => {
    const world = new World([Note])
    for (let count = 0; count < VALUE_SWEEP_ENTRIES_MIN; count++)
      world.despawn(world.spawn(Note, { text: `n${count}` }))
    world.endTick()
    expect(world.heap.size).toBe(0)
  })
})
