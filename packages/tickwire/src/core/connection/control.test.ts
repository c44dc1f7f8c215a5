import { describe, expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { KeyRing } from '../crypto/key-ring.ts'
import type { Role } from '../crypto/key-schedule.ts'
import { pureProvider } from '../crypto/pure-provider.ts'
import { Rekey } from '../crypto/rekey.ts'
import { createSuite } from '../crypto/suite.ts'
import { Control, writePathCheck } from './control.ts'

const suite = createSuite(1, pureProvider)

function side(role: Role, seed: number): { control: Control; ring: KeyRing } {
  const ring = new KeyRing(0, {
    provider: pureProvider,
    suite,
    role,
    secret: new Uint8Array(32).fill(5),
    transcript: new Uint8Array(32),
    rekey: { afterMs: 1000 },
  })
  const control = new Control()
  control.rekey = new Rekey(ring, pureProvider, { fill: (bytes) => bytes.fill(seed) })
  return { control, ring }
}

/** The body of the next frame of `control`, for packet `sequence`. */
function frameOf(control: Control, sequence: number): Uint8Array | undefined {
  const out = new BitWriter(new Uint8Array(100))
  return control.fill(0, sequence, out) ? out.bytes.slice(0, out.finish()) : undefined
}

describe('control frames', () => {
  test('[SEC10] a key exchange survives loss, repetition and disorder of its frames', () => {
    const client = side('client', 1)
    const server = side('server', 2)
    expect(client.control.wantsAt(500)).toBe(Infinity)
    client.control.poll(1000)
    expect(client.control.wantsAt(1000)).toBe(1000)
    const offer = frameOf(client.control, 7)!
    expect(offer.length).toBe(36)
    expect(frameOf(client.control, 8), 'one is under way at a time').toBeUndefined()
    client.control.onLost(1100, 7)
    expect(frameOf(client.control, 9), 'the same again').toEqual(offer)
    expect(server.control.accept(1100, 9, new BitReader(offer))).toBe('ok')
    expect(server.control.accept(1200, 7, new BitReader(offer)), 'a late copy').toBe('ok')
    client.control.onDelivered(1200, 9)
    expect(server.ring.newestEpoch).toBe(1)
    const answer = frameOf(server.control, 3)!
    const early = answer.slice()
    early[1] = 1
    expect(client.control.accept(1200, 4, new BitReader(early)), 'one too early').toBe('no-ack')
    expect(client.control.accept(1200, 3, new BitReader(answer))).toBe('ok')
    expect(client.ring.newestEpoch).toBe(1)
    const bytes = new Uint8Array(60)
    client.ring.seal(10, bytes, 15, 20)
    expect(server.ring.open(1300, 1, 10, bytes, 15, 51)).toBe('ok')
  })

  test('[CRYPTO15] three key messages may wait for an ack; a fourth breaks the connection, and none is lost', () => {
    const sayMore = { poll: () => 'ok', takeMessage: () => new Uint8Array(34) } as unknown as Rekey
    const control = new Control()
    control.rekey = sayMore
    expect(Array.from({ length: 4 }, () => control.poll(0))).toEqual(['ok', 'ok', 'ok', 'broken'])
    const patient = new Control()
    patient.rekey = sayMore
    for (let sequence = 1; sequence < 300; sequence++) {
      expect(patient.poll(0)).toBe('ok')
      expect(frameOf(patient, sequence)?.[1], 'numbered').toBe((sequence - 1) & 0xff)
      patient.onDelivered(0, sequence)
    }
  })

  test('[SEC8] a path check is answered once, with its nonce; a reply counts only for its packet', () => {
    const control = new Control()
    const nonce = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
    const out = new BitWriter(new Uint8Array(20))
    writePathCheck(nonce, out)
    expect(control.accept(0, 1, new BitReader(out.bytes.slice(0, out.finish())))).toBe('ok')
    expect(control.wantsAt(5)).toBe(5)
    const reply = frameOf(control, 1)!
    expect([...reply]).toEqual([3, ...nonce])
    expect(frameOf(control, 2)).toBeUndefined()
    const asker = new Control()
    expect(asker.takeReply(nonce)).toBe(false)
    expect(asker.accept(0, 1, new BitReader(reply))).toBe('ok')
    expect(asker.takeReply(Uint8Array.of(9, 2, 3, 4, 5, 6, 7, 8)), 'of another check').toBe(false)
    expect(asker.takeReply(nonce), 'asked once').toBe(false)
    asker.accept(0, 2, new BitReader(reply))
    expect(asker.takeReply(nonce)).toBe(true)
  })

  test.each([
    [[]],
    [[0]],
    [[9, 1]],
    [[1]],
    [[1, 0, 1]],
    [[2, 1, 2, 3]],
    [[3, ...new Uint8Array(9)]],
    [[1, 0, 7, 1, ...new Uint8Array(32)]],
  ])('[CONN7] broken: %j', (body) => {
    expect(side('server', 3).control.accept(0, 1, new BitReader(Uint8Array.from(body)))).toBe('broken')
  })
})
