import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OriginKey, originKey, readIp } from './origin-key.ts'

const keyOf = (address: string): string | undefined => {
  const key = originKey(address)
  return key && `${key.family} ${key.high.toString(16)} ${key.low.toString(16)}`
}

const scopeOf = (address: string): string | undefined => {
  const key = originKey(address)
  return key && `${key.scope}${key.isEmbedded ? ' inside' : ''}${key.isLocal ? ' local' : ''}`
}

/** RFC 6052 and its kin, written out: every way to carry one IPv4 address in an IPv6 one. */
function spellingsOf(a: number, b: number, c: number, d: number): string[] {
  const hex = (high: number, low: number): string => ((high << 8) | low).toString(16)
  const [first, second] = [hex(a, b), hex(c, d)]
  const dotted = `${a}.${b}.${c}.${d}`
  return [
    `64:ff9b::${dotted}`,
    `64:ff9b::${first}:${second}`,
    `64:FF9B:0:0:0:0:${first}:${second}`,
    `64:ff9b:1::${dotted}`,
    `2002:${first}:${second}::1`,
    `2002:${first}:${second}:ffff:1:2:3:4`,
    `::ffff:0:${dotted}`,
    `2001::${hex(1, 2)}:${hex(255 - a, 255 - b)}:${hex(255 - c, 255 - d)}`,
    `2001:0:1:2:3:4:${hex(255 - a, 255 - b)}:${hex(255 - c, 255 - d)}`,
    `0:0:0:0:0:0:${first}:${second}`,
  ]
}

const octet = fc.nat(255)

describe('origin key', () => {
  test('[ORIGIN1] IPv4 counts by address, without the port; IPv6 by its first 64 bits', () => {
    expect(keyOf('1.2.3.4:5678')).toBe('4 0 1020304')
    expect(keyOf('1.2.3.4')).toBe('4 0 1020304')
    expect(keyOf('255.255.255.255:1')).toBe('4 0 ffffffff')
    expect(keyOf('[2001:db8:1:2:3::4]:5678')).toBe('6 20010db8 10002')
    expect(keyOf('[2001:db8:1:2::]:1')).toBe(keyOf('2001:db8:1:2:ffff:ffff:ffff:ffff'))
    expect(keyOf('[2001:db8:1:3::]:1')).not.toBe(keyOf('[2001:db8:1:2::]:1'))
  })

  test('[ORIGIN2] IPv4 mapped into IPv6 is that IPv4 address, in every notation', () => {
    for (const text of ['[::ffff:1.2.3.4]:9', '::FFFF:1.2.3.4', '0:0:0:0:0:ffff:102:304', '[::ffff:0102:0304]:1']) {
      expect(keyOf(text)).toBe('4 0 1020304')
      expect(scopeOf(text)).toBe('public')
    }
    expect(scopeOf('::ffff:127.0.0.1')).toBe('loopback local')
    expect(scopeOf('::ffff:7f00:1')).toBe('loopback local')
  })

  test('[ORIGIN3] an IPv4 address inside that of a tunnel or a translator counts as itself, and is never local', () => {
    fc.assert(
      fc.property(octet, octet, octet, octet, (a, b, c, d) => {
        fc.pre(a > 0)
        const plain = originKey(`${a}.${b}.${c}.${d}`)!
        for (const spelling of spellingsOf(a, b, c, d)) {
          const key = originKey(spelling)
          expect(key, spelling).toMatchObject({
            family: 4,
            high: 0,
            low: plain.low,
            scope: plain.scope,
            isEmbedded: true,
            isLocal: false,
          })
        }
      }),
      { seed: 1, numRuns: 300 },
    )
  })

  test('[ORIGIN3] loopback and private networks cannot be reached under another address: 50 encodings', () => {
    const hosts = [[127, 0, 0, 1], [10, 0, 0, 1], [192, 168, 1, 1], [172, 31, 255, 254], [169, 254, 169, 254]] as const
    const encodings = hosts.flatMap(([a, b, c, d]) => spellingsOf(a, b, c, d))
    expect(encodings.length).toBe(50)
    for (const encoding of encodings) {
      expect(originKey(encoding)?.scope, encoding).not.toBe('public')
      expect(originKey(encoding)?.isLocal, encoding).toBe(false)
    }
  })

  test.each([
    ['127.0.0.1:1', 'loopback local'],
    ['127.255.255.255', 'loopback local'],
    ['[::1]:1', 'loopback local'],
    ['10.1.2.3', 'private local'],
    ['172.16.0.1', 'private local'],
    ['172.31.255.255', 'private local'],
    ['172.32.0.0', 'public'],
    ['192.168.0.1', 'private local'],
    ['192.169.0.1', 'public'],
    ['169.254.1.1', 'link-local local'],
    ['100.64.0.1', 'shared'],
    ['100.128.0.1', 'public'],
    ['0.0.0.0', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['203.0.113.7', 'reserved'],
    ['198.19.255.255', 'reserved'],
    ['198.20.0.0', 'public'],
    ['8.8.8.8:53', 'public'],
    ['fe80::1%eth0', 'link-local local'],
    ['[fd00::2]:7', 'private local'],
    ['fc00::1', 'private local'],
    ['ff02::1', 'multicast'],
    ['::', 'unspecified'],
    ['2001:db8::1', 'reserved'],
    ['2a00:1450:4001::1', 'public'],
    ['4000::1', 'reserved'],
    ['::1:0:0:0', 'reserved'],
    ['3fff::1', 'reserved'],
  ])('[ORIGIN4] %s is %s', (address, scope) => {
    expect(scopeOf(address)).toBe(scope)
  })

  test.each([
    '',
    ' ',
    'no address',
    'ws:1',
    'localhost:80',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.-4',
    '01.2.3.4',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '2130706433',
    '127.1',
    '1.2.3.4:0',
    '1.2.3.4:65536',
    '1.2.3.4:080',
    '1.2.3.4:',
    '1.2.3.4:x',
    '1.2.3.4 ',
    ' 1.2.3.4',
    '1.2..4',
    '1.2.3.4%eth0',
    '[1.2.3.4',
    '[::1',
    '::1]',
    '[::1]80',
    '[::1]:',
    '[::1]:0',
    '[]:1',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '::12345',
    '::g',
    ':1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:',
    '::1.2.3',
    '::1.2.3.256',
    '1:2:3:4:5:6:7:1.2.3.4',
    '::1.2.3.4:5',
    '::1%',
    '::1%a b',
    '::\x11',
    '::\u0131',
    '1.2.3.\x14',
    '١.2.3.4',
    '1.2.3.4\0',
    '1.2.3.4\n',
    'x'.repeat(10_000),
    '['.repeat(100),
    '0'.repeat(100),
  ])('[ORIGIN5] %j is not an address', (address) => {
    expect(originKey(address)).toBeUndefined()
  })

  test('[ORIGIN5] any text is read or refused, and never throws', () => {
    const alphabet = fc.constantFrom(...'0123456789abcdefx.:[]%/ -')
    fc.assert(fc.property(fc.oneof(fc.string(), fc.string({ unit: alphabet, maxLength: 48 })), (text) => {
      originKey(text)
    }), { seed: 1, numRuns: 5000 })
  })

  test('[ORIGIN6] two notations of one IPv6 address have one key, and reading is the inverse of writing', () => {
    const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 })
    fc.assert(fc.property(groups, fc.nat(7), fc.nat(8), (words, from, size) => {
      fc.pre(words.slice(0, 5).some((word) => word !== 0) || words[5] !== 0xffff)
      const full = words.map((word) => word.toString(16).padStart(4, '0')).join(':')
      const out = new Uint16Array(8)
      expect(readIp(full, 0, full.length, out)).toBe(6)
      expect([...out]).toEqual(words)
      expect(keyOf(full.toUpperCase())).toBe(keyOf(full))
      const short = words.map((word) => word.toString(16))
      const end = Math.min(8, from + size)
      if (end - from < 1 || short.slice(from, end).some((group) => group !== '0')) return
      const compressed = `${short.slice(0, from).join(':')}::${short.slice(end).join(':')}`
      expect(readIp(compressed, 0, compressed.length, out)).toBe(6)
      expect([...out]).toEqual(words)
    }), { seed: 1, numRuns: 2000 })
  })

  test('[ORIGIN7] a key is written in place: nothing of the previous key remains', () => {
    const key = new OriginKey()
    expect(originKey('2002:7f00:1::1', key)).toBe(key)
    expect(key).toMatchObject({ family: 4, scope: 'loopback', isEmbedded: true })
    expect(originKey('[2a00::1]:5', key)).toBe(key)
    expect(key).toMatchObject({ family: 6, high: 0x2a00_0000, low: 0, scope: 'public', isEmbedded: false })
    expect(originKey('9.9.9.9:5', key)).toMatchObject({ family: 4, high: 0, low: 0x0909_0909 })
  })
})
