/** S9: refused upgrades must not be held for clients that never close their half. */

import { setTimeout as sleep } from 'node:timers/promises'
import { REFUSAL_MS } from '../../../packages/tickwire/src/core/base/limits.ts'
import type { AttackReport } from '../stage.ts'
import { RawClient, until, UPGRADE } from './raw-client.ts'
import { withVictim } from './victim.ts'

const COUNT = 1500

export async function heldRefusals(): Promise<AttackReport[]> {
  return await withVictim({}, async (victim) => {
    const before = await victim.ask()
    const clients: RawClient[] = []
    for (let count = 0; count < COUNT; count += 50) {
      const some = Array.from({ length: 50 }, () =>
        new RawClient(victim.port, '127.0.0.1', true).write(UPGRADE.replace('/tickwire', '/other')),
      )
      clients.push(...some)
      await until(() => some.every(({ isSettled }) => isSettled), 10_000)
    }
    await sleep(REFUSAL_MS + 500)
    const { descriptors } = await victim.ask()
    for (const { socket } of clients) socket.destroy()
    const kept = Math.max(0, descriptors - before.descriptors)
    return [
      {
        threat: 'S9',
        what: 'refused upgrades of half-open clients: descriptors kept',
        count: COUNT,
        value: kept,
        unit: '',
        atMost: 8,
      },
    ]
  })
}
