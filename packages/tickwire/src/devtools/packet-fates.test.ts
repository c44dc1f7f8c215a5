import { expect, test } from 'vitest'
import { FATE, PacketFates } from './packet-fates.ts'

test('[DEV3] a missing packet counts as lost until it arrives: then it was late', () => {
  const fates = new PacketFates()
  for (const sequence of [40, 41, 44, 42, 44, 45]) fates.note(sequence, 100)
  expect([40, 41, 42, 43, 44, 45].map((sequence) => fates.fateOf(sequence))).toEqual([
    FATE.received, FATE.received, FATE.late, FATE.lost, FATE.received, FATE.received,
  ])
  expect([fates.received, fates.late, fates.lost, fates.newest]).toEqual([5, 1, 1, 45])
  expect(fates.fateOf(39)).toBe(FATE.unknown)
  expect(fates.lossShare).toBeCloseTo(1 / 6)
})

test('[DEV3] a packet older than the memory changes nothing, and a long silence costs no more than a short one', () => {
  const fates = new PacketFates()
  fates.note(1, 100)
  fates.note(100_000, 100)
  expect(fates.lost).toBe(99_998)
  fates.note(5, 100)
  expect([fates.late, fates.lost]).toEqual([0, 99_998])
})
