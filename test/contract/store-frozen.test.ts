/**
 * Requests to services while their Redis stands still (SIGSTOP), and while another process does: every one is answered
 * in time, by a real service on a real socket.
 */

import { afterEach, expect, test } from 'vitest'
import { serveFleet, serveTracker } from '../../packages/services/src/index.ts'
import { openLeases } from '../../packages/services/src/store/open-store.ts'
import { ChaosStage } from '../chaos/chaos-stage.ts'
import { game, Stage, urlOf } from './fleet-stage.ts'
import { hasRedis, RedisServer } from './redis-server.ts'
import { TestHost } from './tracker-stage.ts'

/** A call of a store has 500 ms, and a request may need two. The rest is for a machine that is busy. */
const ANSWER_MS_MAX = 2000
const ID = '0123456789abcdef0123456789abcdef'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** Asks, and returns the status and how long that took. Status 0: no answer in time. */
async function ask(method: string, url: string, body?: object): Promise<{ status: number; ms: number }> {
  const startedAt = performance.now()
  const response = await fetch(url, {
    method, signal: AbortSignal.timeout(10_000),
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }).catch(() => undefined)
  await response?.arrayBuffer()
  return { status: response?.status ?? 0, ms: performance.now() - startedAt }
}

test.skipIf(!hasRedis)('[STORE10, FLEET8] every request is answered in time while Redis is frozen', async () => {
  const redis = await RedisServer.start()
  closing.push(async () => await redis.kill())
  const leases = await openLeases(redis.url)
  closing.push(async () => await leases.close())
  const stage = new Stage()
  closing.push(async () => await stage.close())
  const fleet = await stage.fleet({ leases })
  await stage.server(fleet)
  const tracker = await serveTracker({ port: 0, address: '127.0.0.1', publish: 'open', store: redis.url })
  closing.push(async () => await tracker.close())
  redis.freeze()
  closing.push(async () => redis.thaw())
  const fingerprint = Buffer.from(game.fingerprint).toString('hex')
  const listing = new TestHost(1).sign()
  const [at, list] = [urlOf(fleet), urlOf(tracker)]
  const requests = [
    ['GET', `${at}/rooms`], ['GET', `${at}/seats/7`], ['GET', `${at}/fleet/key`], ['GET', `${at}/results`],
    ['POST', `${at}/rooms/quick`, { id: ID, fingerprint, deadlineMs: 1500 }],
    ['POST', `${at}/match/tickets`, { id: ID, fingerprint, waitMs: 500 }], ['DELETE', `${at}/match/tickets/${ID}`],
    ['POST', `${at}/fleet/moves`, { from: ID, type: 'melee', fingerprint, players: 1 }],
    ['POST', `${at}/fleet/claims`, { move: ID, server: ID }],
    ['GET', `${list}/v1/listings`], ['GET', `${list}/games`], ['POST', `${list}/v1/listings`, { listing }],
    ['DELETE', `${list}/v1/listings/${ID}`],
    ...[at, list].flatMap((url) => [['GET', `${url}/healthz`], ['GET', `${url}/readyz`]] as const),
  ] as const
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(requests.map(async ([method, url, body]) =>
      ({ what: `${method} ${url}`, ...await ask(method, url, body) })))
    expect(answers.filter(({ status, ms }) => status === 0 || status === 500 || ms > ANSWER_MS_MAX)).toEqual([])
    // A seat is given from the list of before, by the game server itself.
    expect(answers.find(({ what }) => what.endsWith('/rooms/quick'))?.status).toBe(200)
  }
}, 60_000)

test('[FLEET3] a game server that stands still costs a request its deadline at most', async () => {
  const stage = new ChaosStage()
  closing.push(async () => await stage.close())
  const fleet = await serveFleet({ port: 0, address: '127.0.0.1' })
  closing.push(async () => await fleet.close())
  const server = await stage.server(urlOf(fleet))
  const { types: [type] } = fleet.servers.all[0]!
  server.child.kill('SIGSTOP')
  const order = { id: ID, fingerprint: type!.fingerprint, deadlineMs: 700 }
  const { status, ms } = await ask('POST', `${urlOf(fleet)}/rooms/quick`, order)
  expect(status).toBe(503)
  expect(ms).toBeLessThan(700 + ANSWER_MS_MAX)
}, 60_000)
