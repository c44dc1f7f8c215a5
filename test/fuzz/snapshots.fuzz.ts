/**
 * Hostile snapshots for a receiver that already holds objects, and hostile requests for a sender. Nothing is thrown; a
 * frame has one of three verdicts; a protocol error is reported; every object that is held afterwards has a row.
 */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { wantedSink } from '../../packages/tickwire/src/core/replication/receive/wanted-rows.ts'
import { makeScenes, SceneReader } from '../reference/snapshot-scenes.ts'
import type { FuzzTarget } from './target.ts'

const frames = makeScenes().map((scene) =>
  scene.frames.filter(({ verdict }) => verdict === 'ok').map(({ hex }) => Uint8Array.from(Buffer.from(hex, 'hex'))),
)
const [everyday] = frames

/** How many frames of the scene a receiver has received before the hostile one arrives. */
const PRELUDES = [0, 3, 9] as const
/** Tables are as long as the highest index, so the highest index bounds the memory that one frame can use. */
const INDEX_MAX = 1023
const TICK_MAX = 100_000

function run(bytes: Uint8Array, prelude: number): void {
  const reader = new SceneReader()
  reader.sink.indexMax = INDEX_MAX
  reader.sink.tickMax = TICK_MAX
  for (const frame of everyday!.slice(0, prelude)) reader.accept(frame)
  const { undecodableCount } = reader.sink
  const verdict = reader.accept(bytes)
  if (reader.sink.undecodableCount !== undecodableCount + (verdict === 'no-ack' ? 1 : 0))
    throw new Error(`${verdict} is counted wrongly`)
  for (const { id, type, tick } of reader.held) {
    if (reader.timeline.findLatest(type, id) < 0) throw new Error(`object ${id} is held without a row`)
    if (tick > reader.timeline.newest) throw new Error(`object ${id} is of a tick that was never sent`)
  }
  reader.sink.held.drain({ onEntered: () => {}, onChanged: () => {}, onLeft: () => {} })
  // Whether an honest frame can be used afterwards depends on the hostile one. It must be read without a throw.
  reader.accept(everyday![1]!)
}

export const targets: readonly FuzzTarget[] = [
  ...PRELUDES.map((prelude): FuzzTarget => ({
    name: `snapshots/frame-after-${prelude}`,
    seeds: () => frames.flat(),
    run: (bytes) => run(bytes, prelude),
    allocationBytesMax: 4 << 20,
  })),
  {
    name: 'snapshots/wanted',
    seeds: () => [
      Uint8Array.of(1),
      Uint8Array.of(1, 2, 0x81, 0x80, 4),
      Uint8Array.from({ length: 120 }, (_, index) => index + 1),
    ],
    run: (bytes) => {
      let before = 0
      const sink = wantedSink((id) => {
        if (!(id > before && id <= 0xffff_ffff)) throw new Error('requests are ids, ascending')
        before = id
      })
      sink.accept(0, 0, new BitReader(bytes))
    },
  },
]
