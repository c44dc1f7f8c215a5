/**
 * S11: clients behind a proxy on the same machine, and the many /64s of one IPv6 network, must not escape the limits of
 * origins.
 */

import { connect, type Socket } from 'node:net'
import type { AttackReport } from '../stage.ts'
import { withVictim } from './victim.ts'

/** Sockets that one origin may have: four for each of five connections. */
const PER_ORIGIN = 20
const TRIES = 60
const NETWORK_TRIES = 500
/** Origins that a /48 counts for. */
const NETWORK_TIMES = 16

export async function proxiedOrigins(): Promise<AttackReport[]> {
  return await withVictim({ trustedProxies: ['127.0.0.1'], maxSockets: 1000 }, async (victim) => {
    const forwarded = await granted(victim.port, TRIES, (at) => ({
      headers: `X-Forwarded-For: 6.6.6.${at}, 198.51.100.7\r\n`,
    }))
    const framed = await granted(victim.port, TRIES, () => ({ before: proxyHeader([198, 51, 100, 8]) }))
    const network = await granted(victim.port, NETWORK_TRIES, (at) => (
      { before: proxyHeader([0x20, 1, 0x0d, 0xb8, 0, 1, at >>> 8, at & 255, 0, 0, 0, 0, 0, 0, 0, 1]) }))
    return [
      {
        threat: 'S11',
        what: 'WebSockets of one client behind a proxy on this machine (X-Forwarded-For): granted',
        count: TRIES,
        value: forwarded,
        unit: '',
        atMost: PER_ORIGIN,
        atLeast: 1,
      },
      {
        threat: 'S11',
        what: 'the same by the PROXY protocol: granted',
        count: TRIES,
        value: framed,
        unit: '',
        atMost: PER_ORIGIN,
        atLeast: 1,
      },
      {
        threat: 'S11',
        what: 'WebSockets from as many /64s of one /48: granted',
        count: NETWORK_TRIES,
        value: network,
        unit: '',
        atMost: PER_ORIGIN * NETWORK_TIMES,
        atLeast: 1,
      },
    ]
  })
}

function proxyHeader(source: readonly number[]): Buffer {
  const body = [...source, ...source, 0x13, 0x88, 0x0f, 0xa0]
  return Buffer.from([
    13,
    10,
    13,
    10,
    0,
    13,
    10,
    0x51,
    0x55,
    0x49,
    0x54,
    10,
    0x21,
    source.length === 4 ? 0x11 : 0x21,
    0,
    body.length,
    ...body,
  ])
}

/** How many of `count` upgrades are granted while all of them stay open. */
async function granted(
  port: number,
  count: number,
  say: (at: number) => { readonly before?: Buffer; readonly headers?: string },
): Promise<number> {
  const sockets: Socket[] = []
  let grants = 0
  for (let at = 0; at < count; at++) {
    const { before, headers = '' } = say(at)
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => {})
    if (before !== undefined) socket.write(before)
    socket.write(`GET /tickwire HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}`
      + 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n')
    const answer = await new Promise<string>((resolve) => {
      socket.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1')))
      socket.once('close', () => resolve(''))
    })
    if (answer.startsWith('HTTP/1.1 101')) grants++
  }
  for (const socket of sockets) socket.destroy()
  return grants
}
