import { expect, test } from 'vitest'
import { encodeCheckpoint, joined } from '../order/handover.ts'
import { TickLog } from '../order/tick-log.ts'
import { HandoverPapers } from './handover-papers.ts'

const EMPTY = 0x5a
const signer = { publicKey: new Uint8Array(32), sign: () => new Uint8Array(64) }

/** A certificate of one byte, and checkpoints of these ticks. Each tick of the log is one byte. */
function certify(papers: HandoverPapers, certificate: number, ...ticks: number[]): void {
  const relays = [{ url: `relay:${certificate}`, key: new Uint8Array(32) }]
  papers.handleMessage({ kind: 'relays', mayContinue: true, match: new Uint8Array(16), relays }, 1)
  papers.handleMessage({ kind: 'certificate', player: 1, bytes: Uint8Array.of(certificate) }, 1)
  for (const tick of ticks) {
    const body = encodeCheckpoint({ tick, offset: tick, chain: new Uint8Array(32), present: [1] })
    papers.handleMessage({ kind: 'checkpoint', tick, bytes: joined(body, new Uint8Array(64)) }, 1)
  }
}

function papers(...ticks: number[]): HandoverPapers {
  const made = new HandoverPapers(signer)
  certify(made, 1, ...ticks)
  return made
}

/** A log of empty ticks, of which those from 11 to 20 are missing, but for the first of these. */
function gapped(filled: number): TickLog {
  const log = new TickLog()
  for (let tick = 1; tick <= 10; tick++) log.append(Uint8Array.of(EMPTY), 1)
  expect(log.skip(20, 20)).toBe(true)
  for (let tick = 21; tick <= 25; tick++) log.append(Uint8Array.of(EMPTY), 1)
  expect(log.fill(10, new Uint8Array(filled).fill(EMPTY))).toBe(true)
  return log
}

test('[HAND2] a claim shows no ticks that are missing: without a checkpoint after them it shows none', () => {
  const log = gapped(5)
  expect([log.has(15), log.has(16), log.lastMissing]).toEqual([true, false, 20])
  expect(papers(8, 14).claim(log)).toMatchObject({ tick: 25, isWhole: false, tail: new Uint8Array(0) })
})

test('[HAND2] a claim shows the ticks after a checkpoint behind the missing ones', () => {
  const claim = papers(8, 14, 22).claim(gapped(5))
  expect(claim).toMatchObject({ tick: 25, isWhole: false, tail: new Uint8Array(3).fill(EMPTY) })
  expect(claim.kind === 'claim' && claim.checkpoint.length).toBeGreaterThan(0)
})

test('[HAND2] when all ticks have come, a claim shows them', () => {
  const log = gapped(10)
  expect(log.lastMissing).toBe(0)
  expect(papers(8, 14).claim(log)).toMatchObject({ tick: 25, isWhole: true, tail: new Uint8Array(11).fill(EMPTY) })
})

test('[HAND2] until a client has the ticks of the first checkpoint, it shows that of the relay before', () => {
  const log = new TickLog()
  for (let tick = 1; tick <= 400; tick++) log.append(Uint8Array.of(EMPTY), 1)
  const two = papers(352, 384)
  two.moveOn()
  expect(two.relays[0]!.url).toBe('relay:1')
  certify(two, 2, 410)
  expect(two.relays[0]!.url).toBe('relay:2')
  const key = new Uint8Array(32)
  expect(two.claim(log)).toMatchObject({ tick: 400, tail: new Uint8Array(16).fill(EMPTY) })
  expect(two.claimData(key, log)[0]).toBe(1)
  for (let tick = 401; tick <= 412; tick++) log.append(Uint8Array.of(EMPTY), 1)
  expect(two.claim(log)).toMatchObject({ tick: 412, tail: new Uint8Array(2).fill(EMPTY) })
  expect(two.claimData(key, log)[0]).toBe(2)
  two.clear()
  expect(two.relays).toEqual([])
})
