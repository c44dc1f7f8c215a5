/** A frame source for tests of connections: it sends one empty frame each time it is poked. */

import type { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../../packages/tickwire/src/core/packet/frame-source.ts'

export const verdictSink = (verdict: FrameVerdict): FrameSink => ({
  accept: (_now: number, _sequence: number, _frame: BitReader) => verdict,
})

/** Sends one empty frame each time it is poked. */
export class Poke implements FrameSource {
  isWanted: boolean = false
  begin(): void {}
  wantsAt(now: number): number {
    return this.isWanted ? now : Infinity
  }
  fill(): boolean {
    const had = this.isWanted
    this.isWanted = false
    return had
  }
  onDelivered(): void {}
  onLost(): void {}
}
