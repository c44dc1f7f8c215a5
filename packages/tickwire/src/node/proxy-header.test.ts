import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PROXY_HEADER_BYTES_MAX } from '../core/base/limits.ts'
import { PROXY_DATAGRAM, PROXY_STREAM, readProxyHeader } from './proxy-header.ts'
import { TrustedProxies } from './trusted-proxies.ts'

const SIGNATURE = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]
const INET = [...SIGNATURE, 0x21, 0x11, 0, 12, 198, 51, 100, 7, 10, 0, 0, 1, 0x13, 0x88, 0x0f, 0xa0]

test('[PROXY2] a header is read whole or not at all, and the bytes after it are left alone', () => {
  expect(readProxyHeader(Uint8Array.of(...INET, 1, 2, 3), PROXY_STREAM)).toEqual({
    source: '198.51.100.7:5000',
    byteLength: 28,
  })
  for (let length = 0; length < INET.length; length++)
    expect(readProxyHeader(Uint8Array.from(INET.slice(0, length)), PROXY_STREAM)).toBe('more')
  expect(readProxyHeader(Uint8Array.from(INET), PROXY_DATAGRAM), 'another protocol').toBe('broken')
  expect(readProxyHeader(Uint8Array.of(...SIGNATURE, 0x20, 0, 0, 0), PROXY_STREAM), 'LOCAL').toEqual({
    source: undefined,
    byteLength: 16,
  })
  expect(readProxyHeader(Uint8Array.of(...SIGNATURE, 0x21, 0x31, 0, 2, 1, 1), PROXY_STREAM), 'a local socket').toEqual({
    source: undefined,
    byteLength: 18,
  })
  expect(
    readProxyHeader(Uint8Array.of(...SIGNATURE, 0x21, 0x11, 0, 11, ...new Uint8Array(11)), PROXY_STREAM),
    'too short',
  ).toBe('broken')
  expect(readProxyHeader(Uint8Array.of(...SIGNATURE, 0x11, 0x11, 0, 12), PROXY_STREAM), 'version 1').toBe('broken')
  expect(
    readProxyHeader(Uint8Array.of(...SIGNATURE, 0x21, 0x11, PROXY_HEADER_BYTES_MAX >>> 8, 0xff), PROXY_STREAM),
    'too long',
  ).toBe('broken')
  expect(readProxyHeader(Uint8Array.of(0x47, 0x45, 0x54), PROXY_STREAM)).toBe('none')
})

test('[PROXY2] no bytes make it throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), fc.boolean(), (bytes, isSigned) => {
    readProxyHeader(isSigned ? Uint8Array.of(...SIGNATURE, ...bytes) : bytes, PROXY_DATAGRAM)
  }), { numRuns: 2000, seed: 11 })
})

test('[PROXY1] networks are matched by their bits, and hops are walked from the right', () => {
  const proxies = new TrustedProxies(['10.0.0.0/9', '192.0.2.1', 'fd00:1::/32'])
  expect(
    [
      '10.127.255.255',
      '10.128.0.0',
      '192.0.2.1',
      '192.0.2.2',
      '::ffff:10.0.0.1',
      'fd00:1:ffff::1',
      'fd00:2::1',
      'x',
    ].map((ip) => proxies.has(ip)),
  ).toEqual([true, false, true, false, true, true, false, false])
  const from = (header: string | undefined, peer = '10.0.0.1'): string => proxies.clientOf(peer, header)
  expect(from('198.51.100.7')).toBe('198.51.100.7')
  expect(from('6.6.6.6, 198.51.100.7:99 , fd00:1::2, 10.0.0.9')).toBe('198.51.100.7:99')
  expect(from('10.0.0.8, 10.0.0.9')).toBe('10.0.0.8')
  expect(from('198.51.100.7, unknown')).toBe('10.0.0.1')
  expect(from('198.51.100.7, unknown, 10.0.0.9')).toBe('10.0.0.9')
  expect([from(undefined), from(''), from('198.51.100.7', '203.0.113.1')]).toEqual([
    '10.0.0.1',
    '10.0.0.1',
    '203.0.113.1',
  ])
  expect(new TrustedProxies().clientOf('127.0.0.1', '198.51.100.7')).toBe('127.0.0.1')
})
