import { expect, test } from 'vitest'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import {
  certificateMessage, checkpointMessage, claimMessage, decodeCertificate, decodeCheckpoint, encodeCertificate,
  encodeCheckpoint, isCertificateSigned, isCheckpointSigned, joined, readClaim, TickChain,
} from '../../packages/tickwire/src/core/order/handover.ts'
import { TickLog } from '../../packages/tickwire/src/core/order/tick-log.ts'
import vectors from '../vectors/handover.json' with { type: 'json' }
import { chainOf, isClaimSigned, readCertificate, readCheckpoint } from './handover-checker.ts'

const unhex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const verify = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean =>
  pureProvider.importVerifying(key).verify(message, signature)
const relay = pureProvider.importSigning(unhex(vectors.relaySeed))
const client = pureProvider.importSigning(unhex(vectors.clientSeed))
const next = pureProvider.importSigning(unhex(vectors.nextSeed))

test.each(vectors.certificates)('[HAND6] certificate: $name', ({ bytes, claim, meaning }) => {
  const whole = unhex(bytes)
  const certificate = decodeCertificate(whole)!
  const body = encodeCertificate(certificate)
  expect(readCertificate(whole)).toEqual({ ...meaning, isSigned: true })
  expect(hex(joined(body, relay.sign(certificateMessage(body))))).toBe(bytes)
  expect(isCertificateSigned(whole, certificate, verify)).toBe(true)
  const claimed = joined(whole, client.sign(claimMessage(next.publicKey, whole)))
  expect(hex(claimed)).toBe(claim)
  expect(isClaimSigned(claimed, next.publicKey)).toBe(true)
  expect(readClaim(claimed, next.publicKey, () => true, verify)).toEqual(certificate)
  // Another relay, an unknown issuer, and any changed byte are refused.
  expect(readClaim(claimed, relay.publicKey, () => true, verify)).toBeUndefined()
  expect(readClaim(claimed, next.publicKey, () => false, verify)).toBeUndefined()
  for (let at = 0; at < claimed.length; at += 13) {
    const changed = claimed.map((byte, each) => each === at ? byte ^ 1 : byte)
    expect(readClaim(changed, next.publicKey, () => true, verify)).toBeUndefined()
  }
})

test.each(vectors.checkpoints)('[HAND1] checkpoint: $name', ({ bytes, match, ticks, meaning }) => {
  const whole = unhex(bytes)
  expect(readCheckpoint(whole, unhex(match), relay.publicKey)).toEqual({ ...meaning, isSigned: true })
  const log = new TickLog()
  const body = unhex(ticks)
  expect(log.receive(body, 0, body.length, meaning.tick)).toBe('ok')
  const chain = new TickChain(unhex(match), (each) => pureProvider.sha256(each)).at(log, meaning.tick)
  const ends = Array.from({ length: log.newest }, (_, each) => log.endOf(each + 1))
  expect(hex(chain)).toBe(meaning.chain)
  expect(chainOf(unhex(match), body, ends)).toBe(meaning.chain)
  const made = encodeCheckpoint({ tick: meaning.tick, offset: log.length, chain, present: meaning.present })
  expect(hex(joined(made, relay.sign(checkpointMessage(unhex(match), made))))).toBe(bytes)
  expect(isCheckpointSigned(whole, unhex(match), relay.publicKey, verify)).toBe(true)
  expect(decodeCheckpoint(whole)).toEqual({ tick: meaning.tick, offset: log.length, chain, present: meaning.present })
})

test('[HAND9] cut and lengthened papers are refused by both', () => {
  for (const { bytes } of [...vectors.certificates, ...vectors.checkpoints]) {
    const whole = unhex(bytes)
    for (const damaged of [whole.slice(0, -1), joined(whole, Uint8Array.of(0)), new Uint8Array(0)]) {
      expect(decodeCertificate(damaged)).toBeUndefined()
      expect(decodeCheckpoint(damaged)).toBeUndefined()
      expect(() => readCertificate(damaged)).toThrow()
      expect(() => readCheckpoint(damaged, new Uint8Array(16), relay.publicKey)).toThrow()
    }
  }
})
