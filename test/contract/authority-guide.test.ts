/** The code of the guide to authority, with a real server and real clients. */

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { connect, serve } from 'tickwire/node'
import * as guide from '../../docs/guide/examples/authority.ts'

const SLOW = { timeout: 60_000 }

async function until(isTrue: () => boolean, msMax = 20_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await sleep(10)
  }
}

test('[AUTH8, AUTH12] the guide: a ball is taken, kicked, hit, and judged by its owner', SLOW, async () => {
  const serving = await serve(guide.game, { port: 0, log: () => {}, ops: false, signals: false })
  guide.arbitrate(serving.host)
  const ball = (): { readonly id: number; readonly x: number; readonly dents: number; readonly owner: number } =>
    [...serving.host.world.seen(guide.Ball)][0] as never
  const ada = await connect(guide.game, serving.url)
  const bo = await connect(guide.game, `udp://localhost:${serving.info.udp!.port}`)
  bo.play({ input: () => ({}) })
  await until(() => [...ada.view.each(guide.Ball)].length === 1 && [...bo.view.each(guide.Ball)].length === 1)
  expect(await guide.take(ada)).toBe(true)
  guide.play(ada)
  await until(() => ball().owner === ada.peer && ball().x > 52)
  bo.call(guide.Claim, { power: 1 }, { about: ball() })
  await until(() => ball().dents === 1)
  expect(ball().owner).toBe(ada.peer)
  // The ball is far from the other player, which may not take it then.
  await until(() => ball().x > 70)
  expect(await guide.take(bo)).toBe(false)
  // The server owns the ball of a client that has left, and judges itself.
  ada.leave()
  await until(() => ball().owner === 0)
  bo.call(guide.Claim, { power: 1 }, { about: ball() })
  await until(() => ball().dents === 2)
  const spectator = await guide.watch(serving.url)
  expect(await guide.watchNext(spectator)).toBe(bo.peer)
  for (const room of [bo, spectator]) room.leave()
  await serving.close()
})
