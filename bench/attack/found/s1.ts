/** S1: WebSocket pings whose answers are never read must not grow the server. */

import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AttackReport } from '../stage.ts'
import { withVictim } from './victim.ts'

const MIB = 2 ** 20

/** One client sends pings of 125 bytes as fast as the server reads them, and never reads the answers. */
export async function pingFlood(seconds: number): Promise<AttackReport[]> {
  return await withVictim({}, async (victim) => {
    const before = await victim.ask()
    const socket = connect(victim.port, '127.0.0.1')
    socket.on('error', () => {})
    const key = randomBytes(16).toString('base64')
    socket.write(
      `GET /tickwire HTTP/1.1\r\nHost: 127.0.0.1:${victim.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
      + `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    )
    await new Promise((resolve) => socket.once('readable', resolve))
    const ping = Buffer.concat([Buffer.of(0x89, 0x80 | 125, 0, 0, 0, 0), Buffer.alloc(125, 0x61)])
    const volley = Buffer.concat(Array.from({ length: 500 }, () => ping))
    let sent = 0
    const endsAt = performance.now() + seconds * 1000
    while (performance.now() < endsAt && !socket.destroyed) {
      sent += 500
      if (socket.write(volley)) await sleep(0)
      else await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), sleep(100)])
    }
    const after = await victim.ask()
    socket.destroy()
    const grownMib = Math.max(0, (after.rssBytes - before.rssBytes) / MIB)
    return [
      {
        threat: 'S1',
        what: 'WebSocket pings, answers never read: memory grown',
        count: sent,
        value: grownMib,
        unit: 'MiB',
        atMost: 64,
      },
    ]
  })
}
