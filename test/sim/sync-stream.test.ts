import { expect, test } from 'vitest'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { SyncSink, SyncSource } from '../../packages/tickwire/src/core/order/sync-stream.ts'

/** Carries frames with loss, delay and reordering, as packets would be, and reports their fate to the source. */
class Line {
  readonly source = new SyncSource()
  readonly sink = new SyncSink()
  readonly received: Uint8Array[] = []
  readonly #dice: Dice
  readonly #loss: number
  #flying: { sequence: number; bytes: Uint8Array; at: number }[] = []
  #sequence = 0
  #now = 0

  constructor(seed: number, loss: number) {
    this.#dice = new Dice(seed)
    this.#loss = loss
    this.sink.onMessage = (_now, message) => { this.received.push(message) }
  }

  turn(): void {
    this.#now++
    for (let frames = 0; frames < 4 && this.source.wantsAt(this.#now) <= this.#now; frames++) {
      const out = new BitWriter(new Uint8Array(600))
      const sequence = ++this.#sequence
      if (!this.source.fill(this.#now, sequence, out)) break
      const bytes = out.bytes.slice(0, out.finish())
      this.#flying.push({ sequence, bytes, at: this.#now + 2 + Math.floor(10 * this.#dice.fraction()) })
    }
    const landed = this.#flying.filter(({ at }) => at <= this.#now)
    this.#flying = this.#flying.filter(({ at }) => at > this.#now)
    for (const { sequence, bytes } of landed) {
      const isLost = this.#dice.chance(this.#loss)
      const verdict = isLost ? 'lost' : this.sink.accept(this.#now, sequence, new BitReader(bytes))
      expect(verdict).not.toBe('broken')
      if (verdict === 'ok') this.source.onDelivered(this.#now, sequence)
      else this.source.onLost(this.#now, sequence)
    }
  }
}

test('[DESYNC7] messages of all sizes arrive once, whole and in order, at 20 % loss and any order of packets', () => {
  for (let seed = 1; seed <= 5; seed++) {
    const line = new Line(seed, 0.2)
    const dice = new Dice(seed)
    const sent: Uint8Array[] = []
    for (let turn = 0; turn < 6000; turn++) {
      if (turn < 500 && dice.chance(0.1)) {
        const size = Math.floor(dice.chance(0.05) ? 30_000 * dice.fraction() : 300 * dice.fraction())
        const message = Uint8Array.from({ length: size }, (_, at) => at * 7 + sent.length)
        expect(line.source.send(message)).toBe(true)
        sent.push(message)
      }
      line.turn()
    }
    expect(line.received).toEqual(sent)
    expect(line.source.waitingBytes).toBe(0)
  }
})

test('[DESYNC7] too long a message ends the stream, too much is not queued, and garbage never throws', () => {
  const line = new Line(1, 0)
  line.sink.limit = () => 100
  line.source.send(new Uint8Array(101))
  const out = new BitWriter(new Uint8Array(600))
  line.source.fill(0, 1, out)
  expect(line.sink.accept(0, 1, new BitReader(out.bytes.slice(0, out.finish())))).toBe('broken')
  expect(line.source.send(new Uint8Array(5_000_000))).toBe(false)
  const dice = new Dice(9)
  for (let each = 0; each < 2000; each++) {
    const bytes = Uint8Array.from({ length: Math.floor(20 * dice.fraction()) }, () => 256 * dice.fraction())
    new SyncSink().accept(0, 1, new BitReader(bytes))
  }
})

test('[DESYNC7] the frames stay small, and leave packets with ticks alone, unless much waits', () => {
  const source = new SyncSource()
  source.takenSequence = () => 5
  source.send(new Uint8Array(1500))
  const fill = (sequence: number): number => {
    const out = new BitWriter(new Uint8Array(1200))
    return source.fill(0, sequence, out) ? out.finish() : 0
  }
  expect(fill(5)).toBe(0)
  expect(fill(6)).toBe(400)
  source.send(new Uint8Array(50_000))
  expect(fill(7)).toBe(1200)
})
