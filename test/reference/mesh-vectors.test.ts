import { expect, test } from 'vitest'
import fc from 'fast-check'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { MeshFeed } from '../../packages/tickwire/src/core/lockstep/mesh-feed.ts'
import { MeshHead, MeshRun } from '../../packages/tickwire/src/core/order/mesh-frame.ts'
import { TickLog } from '../../packages/tickwire/src/core/order/tick-log.ts'
import vectors from '../vectors/mesh.json' with { type: 'json' }
import { readMeshFrame, type MeshFrameMeaning } from './mesh-checker.ts'

const unhex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** The frame as the engine reads it; undefined when it refuses the bytes. */
function engineReads(bytes: Uint8Array): MeshFrameMeaning | undefined {
  const [head, run, reader] = [new MeshHead(), new MeshRun(), new BitReader(bytes)]
  head.read(reader)
  if (reader.failed) return undefined
  const { position, needUs: need, executed, pulse } = head
  const known = head.peers.slice(0, head.peerCount)
  const peers = known.map(({ player, isReceived: hears, held, isRemoved, reason, newest }) =>
    ({ player, hears, held, ...(isRemoved && { removed: { reason, newest } }) }))
  const runs = Array.from({ length: head.runCount }, () => {
    run.read(reader)
    const { owner, last, offset } = run
    return { owner, last, offset, bytes: hex(run.bytes.subarray(0, run.length)) }
  })
  return reader.finish() ? { position, need, executed, pulse, peers, runs } : undefined
}

function engineWrites({ position, need, executed, pulse, peers, runs }: MeshFrameMeaning): string {
  const head = new MeshHead()
  Object.assign(head, { position, needUs: need, executed, pulse, peerCount: peers.length, runCount: runs.length })
  peers.forEach(({ player, hears, held, removed }, each) => Object.assign(head.peers[each]!, {
    player, isReceived: hears, held, isRemoved: removed !== undefined, reason: 0, newest: 0, ...removed,
  }))
  const out = new BitWriter(new Uint8Array(400))
  head.write(out)
  for (const { owner, last, offset, bytes } of runs) {
    // A log whose bytes from `offset` on are those of the run.
    const log = new TickLog()
    for (let tick = 1; log.length < offset; tick++) log.append(Uint8Array.of(0x5a), 1)
    log.receive(unhex(bytes), 0, bytes.length / 2, last)
    expect(new MeshRun().write(out, owner, log, offset, 200)).toBe(log.length)
  }
  return hex(out.bytes.subarray(0, out.finish()))
}

test.each(vectors.frames)('[LOCK70] frame of a mesh: $name', ({ bytes, meaning }) => {
  expect(readMeshFrame(unhex(bytes))).toEqual(meaning)
  expect(engineReads(unhex(bytes))).toEqual(meaning)
})

test.each(vectors.frames.slice(0, 3))('[LOCK70] the engine writes the same frame: $name', ({ bytes, meaning }) => {
  expect(engineWrites(meaning as MeshFrameMeaning)).toBe(bytes)
})

test.each(vectors.refused)('[LOCK70] refused frames: $name', ({ bytes }) => {
  expect(() => readMeshFrame(unhex(bytes))).toThrow()
  expect(engineReads(unhex(bytes))).toBeUndefined()
})

test('[LOCK70] engine and checker accept the same bytes', () => {
  const small = fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 0x5a, 0x80)
  fc.assert(fc.property(fc.array(small, { maxLength: 24 }), (list) => {
    const bytes = Uint8Array.from(list)
    let meaning: MeshFrameMeaning | undefined
    try {
      meaning = readMeshFrame(bytes)
    } catch {}
    expect(engineReads(bytes)).toEqual(meaning)
  }), { seed: 12, numRuns: 1500 })
})

test('[LOCK70] invalid batches are broken; batches far ahead, with a gap, or of oneself have no effect', () => {
  const feed = new MeshFeed({ tickRate: 30, players: 3, player: 1, seed: 5 })
  const [second, third] = feed.peers
  const receive = (runs: MeshFrameMeaning['runs']): string => {
    const meaning = { position: 1024, need: 0, executed: 0, pulse: 0, peers: [] }
    const head = new BitWriter(new Uint8Array(400))
    const written = new MeshHead()
    Object.assign(written, { position: meaning.position, runCount: runs.length })
    written.write(head)
    for (const { owner, last, offset, bytes } of runs) {
      for (const value of [owner, last, offset, bytes.length / 2]) head.writeBits(value, 8)
      for (const byte of unhex(bytes)) head.writeBits(byte, 8)
    }
    return feed.handleFrame(0, second!, new BitReader(head.bytes.slice(0, head.finish())), true, 0)
  }
  expect(receive([{ owner: 2, last: 1, offset: 0, bytes: '5a' }])).toBe('ok')
  expect(receive([{ owner: 2, last: 4, offset: 3, bytes: '5a' }])).toBe('ok')
  expect(receive([{ owner: 1, last: 1, offset: 0, bytes: '5a' }])).toBe('ok')
  expect([second!.log.newest, third!.log.newest, feed.self.log.newest]).toEqual([1, 0, 0])
  // A third player that never sent anything itself: its batches may come by the second.
  expect(receive([{ owner: 3, last: 1, offset: 0, bytes: '5a' }])).toBe('ok')
  expect(third!.log.newest).toBe(1)
  expect(receive([{ owner: 3, last: 2, offset: 1, bytes: '00' }])).toBe('ok')
  expect(feed.corrupted).toBe(1)
  expect(receive([{ owner: 2, last: 2, offset: 1, bytes: '00' }])).toBe('broken')
  expect([second!.log.newest, third!.log.newest, feed.corrupted]).toEqual([1, 1, 2])
})
