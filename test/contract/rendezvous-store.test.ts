/** Instances of a rendezvous whose store is away, or full. */

import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createSite, listenSite } from '../../packages/services/src/http/site.ts'
import { serveAll, serveRendezvous, type ServingRendezvous } from '../../packages/services/src/index.ts'
import { addRendezvous } from '../../packages/services/src/rendezvous/serve-rendezvous.ts'
import { SessionDirectory } from '../../packages/services/src/rendezvous/session-directory.ts'
import { type Session, Sessions } from '../../packages/services/src/rendezvous/sessions.ts'
import { leaseIdOf, newLeaseId } from '../../packages/services/src/store/lease-key.ts'
import { LEASE_KINDS, type PutAnswer } from '../../packages/services/src/store/leases.ts'
import { MemoryLeases } from '../../packages/services/src/store/memory-leases.ts'
import { Rendezvous } from '../../packages/tickwire/src/core/client/rendezvous.ts'
import { nodeRendezvous } from '../../packages/tickwire/src/node/rendezvous-machine.ts'
import { hasRedis, RedisServer } from './redis-server.ts'
import { type Answer, ask, TestHost } from './tracker-stage.ts'

const FACTS = { fingerprint: '00'.repeat(8), identity: '00'.repeat(32), capacity: 4 }
const secretKey = new Uint8Array(32).fill(9)
let redis: RedisServer
let home: ServingRendezvous
let away: ServingRendezvous

const urlOf = ({ port }: { readonly port: number }): string => `http://127.0.0.1:${port}`
const join = async (at: { readonly port: number }, code: string): Promise<Answer> =>
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

test.skipIf(!hasRedis)('[ALL3] several processes with everything share their codes and listings', async () => {
  const start = async (): ReturnType<typeof serveAll> => await serveAll({
    port: 0, relayPort: 0, address: '127.0.0.1', publicAddress: '127.0.0.1', secretKey, store: redis.url,
  })
  const [here, there] = [await start(), await start()]
  onTestFinished(async () => void await Promise.all([here.close(), there.close()]))
  const { body } = await make(here)
  expect(said(await join(there, body.code))).toEqual(FOUND)
  expect((await ask('POST', `${here.url}v1/listings`, { listing: new TestHost(1).sign() })).status).toBe(201)
  const page = async (): Promise<string> => String((await ask('GET', `${there.url}games`)).body)
  await expect.poll(page, { timeout: 5000 }).toContain('match 1')
})

/** The memory of one process, which instances in it share. */
class SharedMemory extends MemoryLeases {
  override readonly isShared: boolean = true
  /** Called before each lease is put. */
  onPut: (id: string) => Promise<unknown> = async () => {}

  override async put(...args: Parameters<MemoryLeases['put']>): Promise<PutAnswer> {
    if (args[2] !== RIVAL) await this.onPut(args[1])
    return await super.put(...args)
  }
}

/** An instance that has a lease, and does not answer. */
const RIVAL = newLeaseId()

async function serveWith(leases: MemoryLeases): Promise<{ readonly port: number }> {
  const registry = new Registry()
  const app = await createSite({ title: 'rendezvous', registry, maxWebSockets: 10 })
  const { close } = await addRendezvous(app, { secretKey }, registry, leases)
  onTestFinished(async () => {
    close()
    await app.close()
  })
  return { port: await listenSite(app, 0, '127.0.0.1') }
}

async function make(at: { readonly port: number }): Promise<Answer> {
  return await ask('POST', `${urlOf(at)}/v1/sessions`, FACTS)
}

test('[CODE10] a session whose code no other instance could find is refused', async () => {
  const leases = new SharedMemory()
  const [here, there] = [await serveWith(leases), await serveWith(leases)]
  // One lease is free, and a session has two.
  for (let at = 1; at < LEASE_KINDS.code; at++) await leases.put('code', leaseIdOf(`${at}`), RIVAL, '', 60_000)
  expect(said(await make(here))).toEqual([503, 'full'])
  // Nothing is left of it: another one fits when there is room for two.
  await leases.drop('code', leaseIdOf('1'), RIVAL)
  const { status, body } = await make(here)
  expect(status).toBe(201)
  expect(said(await join(there, body.code))).toEqual(FOUND)
})

test('[CODE10] a code that another instance has is drawn again', async () => {
  const leases = new SharedMemory()
  const [here, there] = [await serveWith(leases), await serveWith(leases)]
  let puts = 0
  const takeFirst = async (id: string): Promise<unknown> => await leases.put('code', id, RIVAL, RIVAL, 60_000)
  // The first is the id of the session, the second its code.
  leases.onPut = async (id) => { if (++puts === 2) await takeFirst(id) }
  const { status, body } = await make(here)
  expect([status, puts]).toEqual([201, 4])
  expect(said(await join(there, body.code))).toEqual(FOUND)
  leases.onPut = takeFirst
  expect(said(await make(here))).toEqual([503, 'full'])
})

test('[CODE10] a host takes its code from an instance that is away, and from no other', async () => {
  const leases = new SharedMemory()
  const here = await serveWith(leases)
  const { body: own } = await make(await serveWith(new MemoryLeases()))
  const { session, code, key, secret } = own
  const codeId = leaseIdOf(`join code ${code}`)
  const resume = async (): Promise<Answer> =>
    await ask('PUT', `${urlOf(here)}/v1/sessions/${session}`, { ...FACTS, code, key, secret })
  const another = newLeaseId()
  await leases.put('code', session, RIVAL, RIVAL, 60_000)
  await leases.put('code', codeId, another, another, 60_000)
  // Another session got the code.
  expect(said(await resume())).toEqual([403, 'secret'])
  expect(await leases.get('code', codeId)).toMatchObject({ owner: another })
  expect(await leases.get('code', session)).toBeUndefined()
  await leases.drop('code', codeId, another)
  for (const id of [session, codeId]) await leases.put('code', id, RIVAL, RIVAL, 60_000)
  // Another instance becomes the home at the same time.
  leases.onPut = async (id) => await leases.put('code', id, RIVAL, RIVAL, 60_000)
  expect(said(await resume())).toEqual([503, 'moved'])
  leases.onPut = async () => {}
  expect((await resume()).status).toBe(200)
  expect(await leases.get('code', session)).not.toMatchObject({ owner: RIVAL })
})

test('[CODE10] rounds of renewals do not overlap, and a session that ended is not renewed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const leases = new SharedMemory()
  const sessions = new Sessions({ codeMs: 60_000, sessionsMax: 10, sessionsPerOrigin: 10 }, secretKey)
  const directory = new SessionDirectory(leases, sessions)
  onTestFinished(() => directory.close())
  const [kept, ended] = [0, 1].map(() => sessions.create(0, '1.2.3.4', FACTS, false) as Session) as [Session, Session]
  for (const session of [kept, ended]) expect(await directory.announce(session)).toBe('ok')
  let open = (): void => {}
  let puts = 0
  const isOpen = new Promise<void>((resolve) => { open = resolve })
  leases.onPut = async () => {
    puts++
    await isOpen
  }
  vi.advanceTimersByTime(60_000)
  expect(puts).toBe(2)
  sessions.remove(ended)
  open()
  await expect.poll(async () => {
    const page = await leases.page('code', '', 10)
    return [page.leases.map(({ id }) => id).toSorted(), puts]
  }).toEqual([[kept.id, leaseIdOf(`join code ${kept.code}`)].toSorted(), 4])
  vi.advanceTimersByTime(10_000)
  await expect.poll(() => puts).toBe(6)
})
