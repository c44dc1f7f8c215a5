import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalAddress } from '../core/endpoint/canonical-address.ts'
import { UdpAddressBook } from './udp-addresses.ts'

describe('UDP addresses', () => {
  test('[UDP1] one notation: lower case, no leading zeros, the longest run of zeros left out, IPv4 as IPv4', () => {
    const cases = {
      '1.2.3.4': '1.2.3.4:5',
      '::ffff:1.2.3.4': '1.2.3.4:5',
      '::FFFF:102:304': '1.2.3.4:5',
      '::1': '[::1]:5',
      '::': '[::]:5',
      '2001:DB8:0:0:0:0:0:1': '[2001:db8::1]:5',
      '2001:db8:0:0:1:0:0:1': '[2001:db8::1:0:0:1]:5',
      '1:0:2:3:4:5:6:7': '[1:0:2:3:4:5:6:7]:5',
      '0:0:1::': '[0:0:1::]:5',
      'fe80::1%eth0': '[fe80::1%eth0]:5',
      '::1.2.3.4': '[::102:304]:5',
    }
    for (const [host, text] of Object.entries(cases)) expect(canonicalAddress(host, 5)).toBe(text)
    for (const host of ['localhost', '', '1.2.3', '::g', '1.2.3.4 ']) expect(canonicalAddress(host, 5)).toBeUndefined()
    for (const port of [0, -1, 65_536, 1.5, Number.NaN]) expect(canonicalAddress('1.2.3.4', port)).toBeUndefined()
  })

  test("[UDP1] a sender's address can be sent to, by the same string", () => {
    const book = new UdpAddressBook('both')
    for (const [host, port] of [
      ['::ffff:127.0.0.1', 4000],
      ['::1', 5],
      ['fe80::1%eth0', 65_535],
      ['2001:db8::1', 1],
    ] as const) {
      const address = book.ofSource(host, port)!
      expect(book.ofText(address.text)).toBe(address)
      expect(book.ofSource(host, port)).toBe(address)
      expect([address.host, address.port]).toEqual([host, port])
    }
    expect(book.ofSource('::1', 0)).toBeUndefined()
  })

  test('[UDP1] an address that was sent to is received under the same string', () => {
    const octet = fc.nat(255)
    const book = new UdpAddressBook('both')
    fc.assert(fc.property(octet, octet, octet, octet, fc.integer({ min: 1, max: 65_535 }), (a, b, c, d, port) => {
      const text = `${a}.${b}.${c}.${d}:${port}`
      const place = book.ofText(text)!
      expect([place.text, place.host, place.port]).toEqual([text, `::ffff:${a}.${b}.${c}.${d}`, port])
      expect(book.ofSource(place.host, port)!.text).toBe(text)
    }), { seed: 1, numRuns: 1000 })
  })

  test('[UDP9] a flood of senders evicts peers and never confuses them', () => {
    const book = new UdpAddressBook('ipv4')
    const peer = book.ofSource('10.0.0.1', 4000)!.text
    for (let count = 0; count < 100_000; count++) {
      const host = `${1 + (count % 200)}.${(count >> 3) & 255}.${(count >> 5) & 255}.${count & 255}`
      const port = 1 + (count % 65_535)
      if (book.ofSource(host, port)!.text !== `${host}:${port}`) expect.fail(`${host}:${port} is another peer`)
    }
    expect(book.ofSource('10.0.0.1', 4000)!.text).toBe(peer)
    expect(book.ofText(peer)).toMatchObject({ host: '10.0.0.1', port: 4000 })
  })

  test('[UDP9] two peers with the same hash do not evict each other', () => {
    const book = new UdpAddressBook('ipv4')
    const seen = new Map<string, number>()
    // The end of the host and the port select the entry: all of these have the same one.
    const hosts = ['1.77.77.77', '2.77.77.77', '3.77.77.77']
    const places = hosts.slice(0, 2).map((host) => book.ofSource(host, 9)!)
    expect(places[0]).not.toBe(places[1])
    for (let round = 0; round < 10; round++)
      hosts.slice(0, 2).forEach((host, index) => expect(book.ofSource(host, 9)).toBe(places[index]))
    for (const host of hosts) seen.set(book.ofSource(host, 9)!.text, 1)
    expect(seen.size).toBe(3)
  })
})
