import { describe, expect, test } from 'vitest'
import { createPortStats } from '../core/endpoint/datagram-port.ts'
import { originKey } from '../core/endpoint/origin-key.ts'
import { monotonicNow } from './clock.ts'
import { isAllowedOrigin } from './page-origin.ts'
import { PortBundle } from './port-bundle.ts'
import type { DatagramSession } from './providers.ts'
import { SessionPort } from './session-port.ts'
import { announce } from './webrtc-session.ts'

/** A session that keeps the datagrams sent to it in a list. */
class Wire implements DatagramSession {
  readonly originIp: string
  readonly maxDatagramBytes: number
  readonly sent: number[][] = []
  verdict: 'sent' | 'congested' | 'closed' = 'sent'
  isClosed = false
  onDatagram: (bytes: Uint8Array) => void = () => {}
  onClosed: () => void = () => {}

  constructor(originIp = '203.0.113.9', maxDatagramBytes = 1200) {
    this.originIp = originIp
    this.maxDatagramBytes = maxDatagramBytes
  }

  send(bytes: Uint8Array, length: number): 'sent' | 'congested' | 'closed' {
    if (this.verdict === 'sent') this.sent.push([...bytes.subarray(0, length)])
    return this.verdict
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.onClosed()
  }
}

describe('sessions as a port', () => {
  test('[SESSION1] every session is a path with a number that is never used again', () => {
    const port = new SessionPort('wt:', 8)
    const [first, second] = [new Wire(), new Wire()]
    const received: string[] = []
    const closed: string[] = []
    port.onDatagram = (from, bytes, length) => received.push(`${from} ${bytes.subarray(0, length).join()}`)
    port.onPathClosed = (address) => closed.push(address)
    port.adopt(first)
    first.onDatagram(Uint8Array.of(1, 2))
    first.close()
    port.adopt(second)
    second.onDatagram(Uint8Array.of(3))
    port.send('wt:2', Uint8Array.of(9, 8, 7), 2)
    port.send('wt:1', Uint8Array.of(9), 1)
    expect([received, closed, second.sent]).toEqual([['wt:1 1,2', 'wt:2 3'], ['wt:1'], [[9, 8]]])
    expect(port.stats).toMatchObject({ sent: 1, received: 2, unreachable: 1 })
    port.close()
    expect(closed).toEqual(['wt:1', 'wt:2'])
  })

  test('[SESSION1] datagrams that a session refuses are counted by reason', () => {
    const port = new SessionPort('wt:', 8)
    const wire = new Wire()
    port.adopt(wire)
    for (const verdict of ['sent', 'congested', 'closed'] as const) {
      wire.verdict = verdict
      port.send('wt:1', Uint8Array.of(1), 1)
    }
    port.send('wt:1', new Uint8Array(1201), 1201)
    wire.onDatagram(new Uint8Array(1201))
    expect(port.stats).toEqual({
      ...createPortStats(),
      sent: 1,
      congested: 1,
      unreachable: 1,
      oversized: 1,
      refused: 1,
    })
    port.close()
  })

  test('[SESSION2] a session above the limit, with too small datagrams, or after close is closed', () => {
    const port = new SessionPort('rtc:', 1)
    const wires = [new Wire('203.0.113.9', 1199), new Wire(), new Wire()]
    for (const wire of wires) port.adopt(wire)
    expect(wires.map(({ isClosed }) => isClosed)).toEqual([true, false, true])
    port.close()
    const late = new Wire()
    port.adopt(late)
    expect(late.isClosed).toBe(true)
    expect(port.stats.refused).toBe(3)
  })

  test('[SESSION2] one origin may have twenty sessions, and the local network as many as there are places', () => {
    const port = new SessionPort('wt:', 64)
    for (let count = 0; count < 30; count++)
      port.adopt(new Wire(count % 2 === 0 ? '203.0.113.9' : '::ffff:203.0.113.9'))
    expect(port.pathCount).toBe(20)
    for (let count = 0; count < 30; count++) port.adopt(new Wire('192.168.1.7'))
    expect(port.pathCount).toBe(50)
    port.adopt(new Wire('203.0.113.10'))
    expect([port.pathCount, port.stats.refused]).toEqual([51, 10])
    port.close()
  })

  test('[SESSION3] a silent session is closed, an active one is not', () => {
    const port = new SessionPort('wt:', 8)
    const [silent, speaking] = [new Wire(), new Wire()]
    port.adopt(silent)
    port.adopt(speaking)
    const between = monotonicNow() + 1e-6
    while (monotonicNow() <= between) { /* the clock moves on */ }
    speaking.onDatagram(Uint8Array.of(1))
    port.closeIdle(between)
    expect([silent.isClosed, speaking.isClosed, port.pathCount]).toEqual([true, false, 1])
    port.close()
  })

  test('[SESSION4] limits count the address behind a session', () => {
    const port = new SessionPort('wt:', 8)
    port.adopt(new Wire('203.0.113.9'))
    port.adopt(new Wire('::ffff:203.0.113.9'))
    const bundle = new PortBundle([{ prefix: 'wt:', port }])
    const keys = ['wt:1', 'wt:2'].map((address) => originKey(bundle.originOf(address))?.low)
    expect(keys).toEqual([0xcb00_7109, 0xcb00_7109])
    expect(bundle.originOf('198.51.100.1:5')).toBe('198.51.100.1:5')
    port.close()
  })
})

test('[SESSION5] a bundle sends by prefix, receives from all members, and counts datagrams to unknown prefixes', () => {
  const [one, two] = [new SessionPort('wt:', 8), new SessionPort('rtc:', 8)]
  const bundle = new PortBundle([{ prefix: 'wt:', port: one }, { prefix: 'rtc:', port: two }])
  const [first, second] = [new Wire(), new Wire()]
  one.adopt(first)
  two.adopt(second)
  const received: string[] = []
  bundle.onDatagram = (from) => received.push(from)
  bundle.onPathClosed = (address) => received.push(`${address} closed`)
  second.onDatagram(Uint8Array.of(1))
  bundle.send('rtc:1', Uint8Array.of(2), 1)
  bundle.send('wt:1', Uint8Array.of(3), 1)
  bundle.send('1.2.3.4:5', Uint8Array.of(4), 1)
  expect([first.sent, second.sent]).toEqual([[[3]], [[2]]])
  expect(bundle.stats).toMatchObject({ sent: 2, received: 1, unreachable: 1 })
  bundle.close()
  expect(received.toSorted()).toEqual(['rtc:1', 'rtc:1 closed', 'wt:1 closed'])
})

test('[RTC2] announced addresses replace local ones, once for each port; the rest of the answer stays', () => {
  const sdp = [
    'v=0',
    'a=candidate:1 1 UDP 2122317823 192.168.1.7 40000 typ host',
    'a=candidate:2 1 UDP 2122317567 10.0.0.2 40000 typ host',
    'a=candidate:3 1 UDP 2122317567 10.0.0.2 40001 typ host',
    'a=candidate:4 1 TCP 1 10.0.0.2 9 typ host tcptype active',
    'a=end-of-candidates',
    '',
  ].join('\r\n')
  expect(announce(sdp, [])).toBe(sdp)
  expect(announce(sdp, ['198.51.100.7']).split('\r\n')).toEqual([
    'v=0',
    'a=candidate:1 1 UDP 2122317823 198.51.100.7 40000 typ host',
    'a=candidate:3 1 UDP 2122317567 198.51.100.7 40001 typ host',
    'a=end-of-candidates',
    '',
  ])
})

test("[SERVE7] the origin of a page is the server's own, on the list, or refused; programs have none", () => {
  expect(isAllowedOrigin(undefined, ['a.example'], [])).toBe(true)
  expect(isAllowedOrigin('https://a.example', ['a.example'], [])).toBe(true)
  expect(isAllowedOrigin('https://b.example', ['a.example'], ['https://b.example'])).toBe(true)
  expect(isAllowedOrigin('https://b.example', ['a.example'], 'any')).toBe(true)
  for (const origin of ['https://b.example', 'https://a.example:8443', 'null', 'garbage', '']) {
    expect(isAllowedOrigin(origin, ['a.example', undefined], [])).toBe(false)
  }
})
