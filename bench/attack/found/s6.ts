/**
 * S6: one address must not take the WebSockets of all others, and a WebSocket without a connection must not be kept.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  PATH_SCAN_MS, PATH_UNUSED_MS, PATHS_MAX, PATHS_PER_ORIGIN,
} from '../../../packages/tickwire/src/core/base/limits.ts'
import type { AttackReport } from '../stage.ts'
import { RawClient, until, UPGRADE } from './raw-client.ts'
import { withVictim } from './victim.ts'

export async function webSocketHoard(): Promise<AttackReport[]> {
  return await withVictim({ limits: { areLocalExempt: false } }, async (victim) => {
    const before = await victim.ask()
    const clients: RawClient[] = []
    for (let count = 0; count < PATHS_MAX; count += 64) {
      const some = Array.from({ length: 64 }, () => new RawClient(victim.port, '127.1.6.1').write(UPGRADE))
      clients.push(...some)
      await until(() => some.every(({ isSettled }) => isSettled), 10_000)
    }
    // Sockets that were closed because they had no connection have freed places in the meantime.
    const granted = clients.filter(({ status, isClosed }) => status === 101 && !isClosed).length
    const other = new RawClient(victim.port, '127.1.6.2').write(UPGRADE)
    await until(() => other.isSettled)
    await sleep(PATH_UNUSED_MS + PATH_SCAN_MS + 1000)
    const { descriptors } = await victim.ask()
    for (const { socket } of [...clients, other]) socket.destroy()
    return [
      {
        threat: 'S6',
        what: 'WebSockets from one address: held at once',
        count: PATHS_MAX,
        value: granted,
        unit: '',
        atMost: PATHS_PER_ORIGIN,
      },
      {
        threat: 'S6',
        what: 'meanwhile from another address: granted',
        count: 1,
        value: other.status === 101 ? 1 : 0,
        unit: '',
        atLeast: 1,
      },
      {
        threat: 'S6',
        what: 'WebSockets without a connection: descriptors kept',
        count: granted,
        value: Math.max(0, descriptors - before.descriptors),
        unit: '',
        atMost: 8,
      },
    ]
  })
}
