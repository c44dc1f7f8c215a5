/** Instances of a rendezvous whose store is away, or full. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveRendezvous, type ServingRendezvous } from '../../packages/services/src/index.ts'
import { Rendezvous } from '../../packages/tickwire/src/core/client/rendezvous.ts'
import { nodeRendezvous } from '../../packages/tickwire/src/node/rendezvous-machine.ts'
import { hasRedis, RedisServer } from './redis-server.ts'
import { type Answer, ask } from './tracker-stage.ts'

const FACTS = { fingerprint: '00'.repeat(8), identity: '00'.repeat(32), capacity: 4 }
const secretKey = new Uint8Array(32).fill(9)
let redis: RedisServer
let home: ServingRendezvous
let away: ServingRendezvous

const urlOf = ({ port }: ServingRendezvous): string => `http://127.0.0.1:${port}`
const join = async (at: ServingRendezvous, code: string): Promise<Answer> =>
  await ask('POST', `${urlOf(at)}/v1/joins`, { code })
/** What an answer says: its status, and the code of its refusal. */
const said = ({ status, body }: Answer): [number, string | undefined] => [status, body.error?.code]
/** The session is found: its host has no socket in these tests. */
const FOUND = [503, 'host-away']
const STORE_AWAY = [503, 'unavailable']

beforeAll(async () => {
  if (!hasRedis) return
  redis = await RedisServer.start()
  const start = async (): Promise<ServingRendezvous> =>
    await serveRendezvous({ port: 0, address: '127.0.0.1', secretKey, store: redis.url })
  home = await start()
  away = await start()
})
afterAll(async () => {
  if (!hasRedis) return
  await home.close()
  await away.close()
  await redis.kill()
})

test.skipIf(!hasRedis)('[CODE9] while the store is away, a code of another instance is not wrong', async () => {
  const { body: own } = await ask('POST', `${urlOf(home)}/v1/sessions`, FACTS)
  const { session, code, key, secret } = own
  const resume = async (at: ServingRendezvous): Promise<Answer> =>
    await ask('PUT', `${urlOf(at)}/v1/sessions/${session}`, { ...FACTS, code, key, secret })
  expect(said(await join(away, code))).toEqual(FOUND)
  redis.freeze()
  // More than the wrong codes of an hour.
  for (let tries = 0; tries < 40; tries++) {
    const answer = await join(away, code)
    expect([...said(answer), answer.headers.get('retry-after')]).toEqual([...STORE_AWAY, '2'])
  }
  // The client tries such a code again.
  await expect(new Rendezvous(urlOf(away), nodeRendezvous).join(code, FACTS.fingerprint))
    .rejects.toMatchObject({ code: 'unreachable', isPassing: true })
  // The session is at its home, so no other instance becomes its home.
  const refused = await resume(away)
  expect([...said(refused), refused.headers.get('retry-after')]).toEqual([...STORE_AWAY, '2'])
  expect((await resume(home)).status).toBe(200)
  expect(said(await join(home, code))).toEqual(FOUND)
  // An attacker cannot use this time to try codes: after five unknown ones, none is looked up.
  for (let tries = 0; tries < 5; tries++) expect(said(await join(home, 'IRON-0000'))).toEqual(STORE_AWAY)
  expect(said(await join(home, code))).toEqual(STORE_AWAY)
  redis.thaw()
  await expect.poll(async () => said(await join(away, code)), { timeout: 5000 }).toEqual(FOUND)
  await expect.poll(async () => said(await join(home, code)), { timeout: 5000 }).toEqual(FOUND)
  expect((await resume(away)).status).toBe(200)
  expect([home.counts, away.counts].map(({ wrong, limited }) => [wrong, limited])).toEqual([[0, 0], [0, 0]])
})
