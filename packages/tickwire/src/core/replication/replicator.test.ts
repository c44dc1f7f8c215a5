import { expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { entity } from '../schema/definition.ts'
import { u8 } from '../schema/field-kinds.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import { AllRelevant } from './interest/all-relevant.ts'
import { Replicator } from './replicator.ts'
import { SnapshotSink } from './snapshot-sink.ts'
import { SnapshotSource } from './snapshot-source.ts'

const Unit = entity({ x: u8 }, { name: 'Unit' })

/** The verdict of an owner on a snapshot of its object, if the object at this index was born at `birthTick`. */
function verdictFor(birthTick: number): string {
  const world = new World([Unit])
  const timeline = new Timeline(world, 16)
  world.beginTick()
  world.spawn(Unit, { x: 7 }, 1)
  world.endTick()
  timeline.sample()
  const births = { birthTickAt: () => birthTick, birthOrdinalAt: () => 0 }
  const source = new SnapshotSource(new Replicator(world, timeline, { births }), new AllRelevant(world, 1), 1)
  source.begin()
  const out = new BitWriter(new Uint8Array(200))
  source.fill(0, 1, out)
  const held = new World([Unit], { isReadOnly: true })
  return new SnapshotSink(held, new Timeline(held, 16)).accept(0, 1, new BitReader(out.bytes.slice(0, out.finish())))
}

test('[REPL1] seed 1048: a birth after the sent tick belongs to another object at the index, and is not sent', () => {
  expect(verdictFor(0)).toBe('ok')
  expect(verdictFor(1_000_000)).toBe('ok')
})
