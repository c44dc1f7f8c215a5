import { expect, test } from 'vitest'
import { SENT_PACKETS_MAX } from '../base/limits.ts'
import { Prng } from '../base/prng.ts'
import { NO_RECORD, PacketRecords } from './packet-records.ts'

test('[REPL7] what every open packet carried is remembered, whatever is closed in whatever order', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const dice = new Prng(seed)
    const records = new PacketRecords()
    const open = new Map<number, number[]>()
    let sequence = 0
    for (let step = 0; step < 800; step++) {
      sequence += dice.nextInt(1, 3)
      for (const old of [...open.keys()]) {
        if (old > sequence - SENT_PACKETS_MAX && dice.nextInt(0, 9) !== 0) continue
        const slot = records.find(old)
        expect(slot).not.toBe(NO_RECORD)
        const start = records.starts[slot]!
        expect(Array.from({ length: records.counts[slot]! }, (_, at) => records.store[(start + at) & records.mask])).toEqual(open.get(old))
        records.close(slot)
        expect(records.find(old)).toBe(NO_RECORD)
        open.delete(old)
      }
      expect(records.occupant(sequence)).toBe(-1)
      records.open(sequence, step)
      const carried = Array.from({ length: dice.nextInt(0, seed % 4 === 0 ? 400 : 20) }, () => dice.nextInt(0, 65_535))
      for (const entry of carried) records.add(sequence, entry)
      open.set(sequence, carried)
    }
  }
})
