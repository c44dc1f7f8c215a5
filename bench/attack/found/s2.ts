/** S2: downloads that are aborted, or never read, must not keep files open. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HTTP_STALL_MS } from '../../../packages/tickwire/src/core/base/limits.ts'
import type { AttackReport } from '../stage.ts'
import { RawClient, until } from './raw-client.ts'
import { withVictim } from './victim.ts'

const REQUEST = 'GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n'
const AT_ONCE = 25
const STUCK = 60
/**
 * Readers that read nothing are closed after HTTP_STALL_MS. A busy machine needs some time to fill their buffers first.
 */
const PATIENCE_MS = HTTP_STALL_MS + 20_000

/** Descriptors that may be open for another reason, such as a socket that is closing. */
const SLACK = 8

export async function downloads(seconds: number): Promise<AttackReport[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-attack-'))
  writeFileSync(join(folder, 'large.bin'), new Uint8Array(8 * 2 ** 20))
  try {
    return await withVictim({ static: folder, limits: { areLocalExempt: false } }, async (victim) => {
      const before = await victim.ask()
      const grown = async (): Promise<number> => Math.max(0, (await victim.ask()).descriptors - before.descriptors)
      let aborted = 0
      for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt; aborted += AT_ONCE) {
        const clients = Array.from({ length: AT_ONCE }, () => new RawClient(victim.port, '127.1.2.1').write(REQUEST))
        await until(() => clients.some(({ isSettled }) => isSettled), 2000)
        for (const { socket } of clients) socket.resetAndDestroy()
      }
      await sleep(500)
      const afterAborts = await grown()
      const stuck = Array.from({ length: STUCK }, (_, index) => {
        const client = new RawClient(victim.port, `127.1.3.${1 + (index % 10)}`)
        client.socket.pause()
        return client.write(REQUEST)
      })
      await sleep(2000)
      let afterStall = await grown()
      for (
        const endsAt = performance.now() + PATIENCE_MS;
        afterStall > SLACK && performance.now() < endsAt;
        afterStall = await grown()
      )
        await sleep(1000)
      for (const { socket } of stuck) socket.destroy()
      return [
        {
          threat: 'S2',
          what: 'aborted downloads: descriptors kept',
          count: aborted,
          value: afterAborts,
          unit: '',
          atMost: SLACK,
        },
        {
          threat: 'S2',
          what: `downloads that are never read: descriptors kept after ${PATIENCE_MS / 1000} s`,
          count: STUCK,
          value: afterStall,
          unit: '',
          atMost: SLACK,
        },
      ]
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
