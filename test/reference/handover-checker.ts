/** Reads the papers of a handover as docs/wire/LOCKSTEP.md says, and throws if invalid. Imports nothing of src. */

import { createHash, createPublicKey, verify } from 'node:crypto'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const ascii = (text: string): Buffer => Buffer.from(`${text}\0`, 'latin1')

function low(bytes: Uint8Array, at: number, count: number): number {
  if (at + count > bytes.length) throw new Error('cut')
  let value = 0
  for (let each = count - 1; each >= 0; each--) value = value * 256 + bytes[at + each]!
  return value
}

function isSigned(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key])
  return verify(null, message, createPublicKey({ key: spki, format: 'der', type: 'spki' }), signature)
}

/** A certificate, and whether its relay has signed it. */
export function readCertificate(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  if (bytes.length !== 161) throw new Error('no certificate')
  const [peer, flags] = [low(bytes, 16, 4), low(bytes, 20, 1)]
  if (peer === 0 || flags > 3) throw new Error('no certificate')
  const message = Buffer.concat([ascii('tickwire seat 1'), bytes.subarray(0, 97)])
  return {
    match: hex(bytes.subarray(0, 16)), peer, isSpectator: (flags & 1) === 1, mayContinue: (flags & 2) === 2,
    seed: low(bytes, 21, 4), fingerprint: hex(bytes.subarray(25, 33)), clientKey: hex(bytes.subarray(33, 65)),
    relayKey: hex(bytes.subarray(65, 97)),
    isSigned: isSigned(bytes.subarray(65, 97), message, bytes.subarray(97)),
  }
}

/** Whether a claim is signed by the key of its certificate, for the relay with this key. */
export function isClaimSigned(bytes: Uint8Array, relayKey: Uint8Array): boolean {
  const certificate = bytes.subarray(0, 161)
  const message = Buffer.concat([ascii('tickwire claim 1'), relayKey, certificate])
  return isSigned(certificate.subarray(33, 65), message, bytes.subarray(161))
}

/** A checkpoint, and whether the relay has signed it for the match. */
export function readCheckpoint(
  bytes: Uint8Array, match: Uint8Array, relayKey: Uint8Array,
): Readonly<Record<string, unknown>> {
  const count = low(bytes, 42, 1)
  if (count > 16 || bytes.length !== 43 + 4 * count + 64) throw new Error('no checkpoint')
  const present = Array.from({ length: count }, (_, at) => low(bytes, 43 + 4 * at, 4))
  if (present.some((peer, at) => peer <= (present[at - 1] ?? 0))) throw new Error('not ascending')
  const [tick, offset] = [low(bytes, 0, 6), low(bytes, 6, 4)]
  if (offset < tick) throw new Error('short')
  const body = bytes.subarray(0, 43 + 4 * count)
  return {
    tick, offset, chain: hex(bytes.subarray(10, 42)), present,
    isSigned: isSigned(relayKey, Buffer.concat([ascii('tickwire ticks 1'), match, body]), bytes.subarray(body.length)),
  }
}

/** The chain of a log after its last tick. `ends`: where its ticks end. */
export function chainOf(match: Uint8Array, log: Uint8Array, ends: readonly number[]): string {
  const sha = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()
  let chain = sha(Buffer.concat([ascii('tickwire ticks 1'), match]))
  let from = 0
  for (let tick = 32; tick <= ends.length; tick += 32) {
    chain = sha(Buffer.concat([chain, log.subarray(from, ends[tick - 1])]))
    from = ends[tick - 1]!
  }
  return hex(ends.length % 32 === 0 ? chain : sha(Buffer.concat([chain, log.subarray(from, ends.at(-1))])))
}
