/** S7: handshakes that are accepted and never used must hold no seat and open no room. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { AttackReport } from '../stage.ts'
import { joinByUdp, within, type UdpClient } from './udp-client.ts'
import { withVictim } from './victim.ts'

const HANDSHAKES = 120

export async function halfHandshakes(): Promise<AttackReport[]> {
  return await withVictim({ maxRooms: 4 }, async (victim) => {
    const half: UdpClient[] = []
    for (let at = 0; at < HANDSHAKES; at++) {
      half.push(
        await joinByUdp(victim.udpPort, {
          join: at % 2 === 0 ? { quick: 'match' } : { create: 'match', isPrivate: true },
          isHalfWay: true,
          everyMs: 100,
        }),
      )
    }
    await within(8000, () => half.every(({ host }) => host.peer !== 0))
    await sleep(200)
    const accepted = half.filter(({ host }) => host.peer !== 0).length
    const { rooms, seats } = await victim.ask()
    const honest = await joinByUdp(victim.udpPort)
    await within(5000, () => honest.host.peer !== 0)
    await sleep(500)
    const isIn = honest.host.peer !== 0 && honest.closed === undefined
    const after = await victim.ask()
    for (const client of [...half, honest]) client.close()
    const isPlayed = accepted > HANDSHAKES / 2
    return [
      {
        threat: 'S7',
        what: 'handshakes that were accepted and never used: seats held',
        count: HANDSHAKES,
        value: isPlayed ? seats : NaN,
        unit: '',
        atMost: 0,
        figure: 'half_open_seats',
      },
      {
        threat: 'S7',
        what: 'the same: rooms opened',
        count: HANDSHAKES,
        value: isPlayed ? rooms : NaN,
        unit: '',
        atMost: 0,
        figure: 'half_open_rooms',
      },
      {
        threat: 'S7',
        what: 'the same: an honest client is in',
        count: HANDSHAKES,
        value: isIn && after.seats === 1 ? 1 : 0,
        unit: '',
        atLeast: 1,
      },
    ]
  })
}
