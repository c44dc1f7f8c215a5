/** Leases: in memory and in a real redis-server, also while that is frozen, killed or emptied. */

import { Registry } from 'prom-client'
import { afterAll, describe, expect, test } from 'vitest'
import { newLeaseId } from '../../packages/services/src/store/lease-key.ts'
import type { Leases } from '../../packages/services/src/store/leases.ts'
import { MemoryLeases } from '../../packages/services/src/store/memory-leases.ts'
import { openLeases } from '../../packages/services/src/store/open-store.ts'
import { describeLeases } from './leases.contract.ts'
import { hasRedis, RedisServer } from './redis-server.ts'

const servers: RedisServer[] = []
afterAll(async () => await Promise.all(servers.map(async (server) => await server.kill())))

const startRedis = async (): Promise<RedisServer> => {
  const server = await RedisServer.start()
  servers.push(server)
  return server
}

/** Longer than the deadline of a call, on a busy machine. */
const ANSWER_MS_MAX = 600

describe('in memory', () => {
  describeLeases(async () => {
    const leases = new MemoryLeases()
    return {
      name: 'memory', open: async () => Object.assign(Object.create(leases), boundTo(leases)) as Leases,
      empty: async () => await leases.close(),
    }
  })
})

describe.skipIf(!hasRedis)('in redis-server', () => {
  describeLeases(async () => {
    const server = await startRedis()
    return { name: 'redis', open: async () => await openLeases(server.url), empty: async () => await server.flush() }
  })
})

describe.skipIf(!hasRedis)('in a redis-server that fails', () => {
  test('[STORE10] while Redis is frozen, every call answers in time and changes nothing later', async () => {
    const server = await startRedis()
    const leases = await openLeases(server.url)
    const kept = newLeaseId()
    expect(await leases.put('listing', kept, 'ada', 'before', 60_000)).toBeGreaterThan(0)
    server.freeze()
    const late = newLeaseId()
    const frozenAt = performance.now()
    const slowest = await Promise.all([
      timed(async () => await leases.put('listing', late, 'ada', '', 60_000)),
      timed(async () => await leases.take('listing', kept)),
    ])
    while (performance.now() - frozenAt < 2500) {
      slowest.push(await timed(async () => await leases.page('listing', '', 10)))
      slowest.push(await timed(async () => await leases.get('listing', kept)))
      await wait(20)
    }
    expect(Math.max(...slowest)).toBeLessThan(ANSWER_MS_MAX)
    // Only calls that were made before the first one failed have waited.
    expect(slowest.slice(2).filter((ms) => ms > ANSWER_MS_MAX / 2)).toEqual([])
    expect(leases.isDegraded).toBe(true)
    server.thaw()
    const backMs = await timed(async () => await until(async () => await leases.get('listing', kept) !== 'unavailable'))
    expect(backMs).toBeLessThan(2000)
    await wait(200)
    // The caller of both was answered with `unavailable`: they must not have happened.
    expect(await leases.get('listing', late)).toBeUndefined()
    expect(await leases.get('listing', kept)).toMatchObject({ value: 'before' })
    expect(leases.isDegraded).toBe(false)
    await leases.close()
  })

  test('[STORE10] Redis may be killed, return empty, and be missing at the start', async () => {
    const server = await startRedis()
    const registry = new Registry()
    const leases = await openLeases(server.url, registry)
    const received: string[] = []
    const [id, instance] = [newLeaseId(), newLeaseId()]
    leases.onMessage(instance, (text) => received.push(text))
    expect(await leases.put('server', id, 'ada', '', 60_000)).toBeGreaterThan(0)
    await server.kill()
    for (let tries = 0; tries < 20; tries++)
      expect(await timed(async () => await leases.touch('server', id, 'ada', 1000))).toBeLessThan(ANSWER_MS_MAX)
    expect(await leases.touch('server', id, 'ada', 1000)).toBe('unavailable')
    expect(await registry.metrics()).toContain('tickwire_store_degraded 1')
    // A service starts without Redis too, and finds it later.
    const openedAt = performance.now()
    const early = await openLeases(server.url)
    expect(performance.now() - openedAt).toBeLessThan(ANSWER_MS_MAX + 400)
    expect(await early.get('server', id)).toBe('unavailable')
    await server.restart()
    await until(async () => await leases.touch('server', id, 'ada', 1000) === 'gone')
    expect(await leases.put('server', id, 'ada', 'again', 60_000)).toBeGreaterThan(0)
    await until(async () => await early.get('server', id) !== 'unavailable')
    expect(await early.get('server', id)).toMatchObject({ value: 'again' })
    // Its listener is there again as well.
    await until(async () => await early.send(instance, 'hello') === 'ok')
    await until(async () => received.length > 0)
    const metrics = await registry.metrics()
    expect(metrics).toContain('tickwire_store_degraded 0')
    expect(metrics).toMatch(/tickwire_store_calls_total\{op="touch",result="unavailable"\} \d/)
    expect(metrics).not.toContain('127.0.0.1')
    await Promise.all([leases.close(), early.close()])
  })
})

describe.skipIf(!hasRedis)('in a redis-server that refuses writes', () => {
  const REFUSALS = [
    { why: 'has no memory left', begin: 'CONFIG SET maxmemory 1', end: 'CONFIG SET maxmemory 0' },
    { why: 'is a replica of another', begin: 'REPLICAOF 127.0.0.1 1', end: 'REPLICAOF NO ONE' },
  ] as const

  test.each(REFUSALS)('[STORE10] a Redis that $why refuses writes: they are unavailable, and nothing is lost',
    async ({ begin, end }) => {
      const server = await startRedis()
      const leases = await openLeases(server.url)
      const [kept, refused] = [newLeaseId(), newLeaseId()]
      expect(await leases.put('listing', kept, 'ada', 'before', 60_000)).toBeGreaterThan(0)
      expect(await server.ask(begin)).toBe('+OK')
      expect(await leases.put('listing', refused, 'ada', '', 60_000)).toBe('unavailable')
      expect(await timed(async () => await leases.get('listing', kept))).toBeLessThan(ANSWER_MS_MAX)
      expect(await server.ask(end)).toBe('+OK')
      await until(async () => typeof await leases.put('listing', newLeaseId(), 'ada', '', 60_000) === 'number')
      expect(await leases.get('listing', kept)).toMatchObject({ value: 'before' })
      expect(await leases.get('listing', refused)).toBeUndefined()
      await leases.close()
    })
})

describe.skipIf(!hasRedis)('in a redis-server that is left alone', () => {
  test('[STORE10] keys of an abandoned store expire by themselves', async () => {
    const server = await startRedis()
    const leases = await openLeases(server.url)
    await leases.put('room', newLeaseId(), 'ada', '', 300)
    await leases.count('origin', newLeaseId(), 300)
    await wait(400)
    expect(await server.ask('DBSIZE')).toBe(':1')
    expect(await server.ask('KEYS *')).toBe('*1')
    await leases.close()
  })
})

test.runIf(!hasRedis && process.env['CI'] !== undefined)('[STORE10] redis-server is there in CI', () => {
  expect(hasRedis).toBe(true)
})

test('[STORE11] nothing is shared unless a store is given, and an invalid address is refused', async () => {
  expect((await openLeases(undefined)).isShared).toBe(false)
  for (const address of ['mysql://host', 'redis:', 'localhost:6379'])
    await expect(openLeases(address)).rejects.toThrow(/--store: not .* Fix: /)
})

/** Instances of one process share its memory: each forwards to the same store. */
function boundTo(leases: MemoryLeases): Partial<Leases> {
  const names = ['put', 'touch', 'drop', 'get', 'page', 'take', 'count', 'send', 'onMessage'] as const
  return Object.fromEntries([...names.map((name) => [name, leases[name].bind(leases)]), ['close', async () => {}]])
}

async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await run()
  return performance.now() - startedAt
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + 10_000; !await isTrue();) {
    if (performance.now() > deadline) throw new Error('never true')
    await wait(20)
  }
}
