import { expect, test } from 'vitest'
import { SENT_PACKETS_MAX } from '../base/limits.ts'
import { Prng } from '../base/prng.ts'
import { NO_RECORD, PacketRecords } from './packet-records.ts'

test('[REPL7] the content of every open packet is remembered, whatever is closed in whatever order', () => {
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
      open.set(sequence, carried)
    }
  }
})
