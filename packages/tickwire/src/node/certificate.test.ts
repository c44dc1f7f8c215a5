import { createPrivateKey, createHash, X509Certificate } from 'node:crypto'
import { createServer, get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { ConfigError } from '../core/base/assert.ts'
import { checkCertificate, makeCertificate } from './certificate.ts'
import { CertificateRotation } from './certificate-rotation.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 10, 15, 12, 30, 5)

test('[CERT1] an independent reader finds the key, the names and the dates, and the signature is valid', () => {
  const { cert, key, hash, notAfter } = makeCertificate(NOW, [
    'localhost',
    'play.example',
    '127.0.0.1',
    '::1',
    '2001:db8::7:8',
  ])
  const read = new X509Certificate(cert)
  expect(read.verify(read.publicKey)).toBe(true)
  expect(read.checkPrivateKey(createPrivateKey(key))).toBe(true)
  expect(read.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
  expect(read.subjectAltName).toBe(
    'DNS:localhost, DNS:play.example, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, '
      + 'IP Address:2001:DB8:0:0:0:0:7:8',
  )
  expect(read.checkHost('play.example')).toBe('play.example')
  expect(Date.parse(read.validFrom)).toBe(NOW - DAY_MS)
  expect(Date.parse(read.validTo)).toBe(NOW + 12 * DAY_MS)
  expect(notAfter).toBe(NOW + 12 * DAY_MS)
  expect([...hash]).toEqual([...createHash('sha256').update(read.raw).digest()])
})

test('[CERT1] dates from 2050 on are written with the whole year', () => {
  const read = new X509Certificate(makeCertificate(Date.UTC(2050, 0, 8), ['a.example']).cert)
  expect(Date.parse(read.validFrom)).toBe(Date.UTC(2050, 0, 7))
})

test('[CERT1] TLS accepts it', async () => {
  const { cert, key } = makeCertificate(Date.now())
  const server = createServer({ cert, key }, (_request, response) => response.end('sealed'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const text = await new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', ca: cert }, (response) => response.on('data', (chunk) => resolve(String(chunk)))).on(
      'error',
      reject,
    )
  })
  expect(text).toBe('sealed')
  server.closeAllConnections()
  server.close()
})

test('[CERT2] a certificate is used for six days; its successor is published before, and is valid by then', () => {
  const rotation = new CertificateRotation(NOW)
  const [first, second] = rotation.hashes.map((hash) => hash.join())
  expect(rotation.renew(NOW + 6 * DAY_MS - 1)).toBe(false)
  expect(rotation.current.hash.join()).toBe(first)
  expect(rotation.renew(NOW + 6 * DAY_MS)).toBe(true)
  expect(rotation.current.hash.join()).toBe(second)
  expect(rotation.hashes[0]!.join()).toBe(second)
  const read = new X509Certificate(rotation.current.cert)
  expect(Date.parse(read.validFrom)).toBe(NOW + 5 * DAY_MS)
  expect(rotation.renew(NOW + 6 * DAY_MS)).toBe(false)
})

test('[CERT2] after a long sleep both are made again', () => {
  const rotation = new CertificateRotation(NOW)
  const hashes = rotation.hashes.map((hash) => hash.join())
  expect(rotation.renew(NOW + 100 * DAY_MS)).toBe(true)
  for (const hash of rotation.hashes) expect(hashes).not.toContain(hash.join())
  expect(rotation.current.notAfter).toBe(NOW + 112 * DAY_MS)
})

test('[CERT3] an invalid certificate or key is refused with the path and the fix', () => {
  const { cert, key } = makeCertificate(NOW)
  expect(() => checkCertificate('tls', { cert, key })).not.toThrow()
  expect(() => checkCertificate('tls', { cert: '/etc/cert.pem', key })).toThrow(ConfigError)
  expect(() => checkCertificate('tls', { cert: '/etc/cert.pem', key })).toThrow('tls.cert')
  expect(() => checkCertificate('webtransport.certificate', { cert, key: 'key.pem' })).toThrow(
    'webtransport.certificate.key',
  )
  expect(() => makeCertificate(NOW, [])).toThrow(ConfigError)
})
