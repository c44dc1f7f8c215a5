import { expect, test } from 'vitest'
import { SENT_PACKETS_MAX } from '../base/limits.ts'
import { Prng } from '../base/prng.ts'
import { NO_RECORD, PacketRecords, RECORD_ALIKE, RECORD_BLOCK, RECORD_NONE_HELD } from './packet-records.ts'

test('[REPL7] what every open packet carried is remembered, whatever is closed in whatever order', () => {
  for (let seed = 1; seed <= 24; seed++) {
    const dice = new Prng(seed)
    const records = new PacketRecords()
    const open = new Map<number, number[]>()
    let sequence = 0
    for (let step = 0; step < 800; step++) {
      sequence += dice.nextInt(1, 3)
      for (const old of [...open.keys()]) {
        if (old > sequence - SENT_PACKETS_MAX && dice.nextInt(0, 9) !== 0) continue
        const slot = records.find(old)
        const start = records.startOf(slot)
        const is = Array.from({ length: records.countOf(slot) }, (_, at) => records.store[(start + at) & records.mask])
        // Asserted only when wrong: this happens some ten thousand times.
        if (slot === NO_RECORD || is.join() !== open.get(old)!.join()) expect([slot, is]).toEqual([slot, open.get(old)])
        records.close(slot)
        if (records.find(old) !== NO_RECORD) expect(records.find(old)).toBe(NO_RECORD)
        open.delete(old)
      }
      if (records.occupant(sequence) !== -1) expect(records.occupant(sequence)).toBe(-1)
      records.open(sequence, step)
      const carried = Array.from({ length: dice.nextInt(0, seed % 4 === 0 ? 400 : 20) }, () => dice.nextInt(0, 65_535))
      for (const entry of carried) records.add(sequence, entry)
      if (dice.nextInt(0, 3) === 0) {
        const [block, sent, held] = [dice.nextInt(0, 2047), dice.nextInt(1, 0xffff_ffff), dice.nextInt(1, 0xffff_ffff)]
        records.addBlock(sequence, block, sent, held)
        records.addBlock(sequence, block, sent, sent)
        records.addBlock(sequence, block, sent, 0)
        carried.push(block | RECORD_BLOCK, sent, held, block | RECORD_BLOCK | RECORD_ALIKE, sent, block | RECORD_BLOCK | RECORD_ALIKE | RECORD_NONE_HELD, sent)
      }
      open.set(sequence, carried)
    }
  }
})

test('[REPL20] the entries of a packet that others carry too are added all at once, however many there is room for', () => {
  const records = new PacketRecords()
  const entries = Uint32Array.from({ length: 192 }, (_, at) => at * 7)
  for (let sequence = 0; sequence < 40; sequence++) {
    records.open(sequence, sequence)
    records.addShared(sequence, entries, sequence, 150, sequence + 1)
    if (sequence % 3 === 0) records.close(records.find(sequence))
  }
  for (let sequence = 0; sequence < 40; sequence++) {
    const slot = records.find(sequence)
    expect(slot === NO_RECORD).toBe(sequence % 3 === 0)
    if (slot === NO_RECORD) continue
    expect(records.frameOf(slot)).toBe(sequence + 1)
    const words = Array.from({ length: records.countOf(slot) }, (_, at) => records.store[(records.startOf(slot) + at) & records.mask])
    expect(words).toEqual([...entries.subarray(sequence, sequence + 150)])
  }
})
