/**
 * Leases in Redis, shared by several processes.
 *
 * A call waits `STORE_DEADLINE_MS` at most. After a failed call, all calls answer `unavailable` at once until Redis has
 * answered a PING, which is sent every `PROBE_MS`: a request of several calls waits for one deadline at most. A
 * connection without any answer for `SILENT_MS` is replaced, because TCP may wait minutes before it repeats data that a
 * broken network lost.
 *
 * Nothing is persisted, and an emptied Redis is full again after the owners' next renewals.
 */

import { ConfigError } from 'tickwire'
import { monotonicNow } from 'tickwire/node'
import { instanceChannel, kindKeys, leaseKeys } from './lease-key.ts'
import {
  LEASE_KINDS, MESSAGE_BYTES_MAX, STORE_DEADLINE_MS, type Lease, type LeaseKind, type LeasePage, type Leases,
  type MessageListener, type PutAnswer, type SendAnswer, type Unavailable,
} from './leases.ts'
import { isPut, isTtl, pageSize } from './memory-leases.ts'
import { COUNT, PAGE, PUT, TAKE, TOUCH, type RedisScript } from './redis-scripts.ts'

/** The pause between two PINGs after a failed call, in ms. */
const PROBE_MS = 100
/** After this long without an answer a new connection is made, in ms. */
const SILENT_MS = 2000
/** A script that runs this long after its call changes nothing, in ms: the deadline, and the error of the clock. */
const LATE_MS = 2 * STORE_DEADLINE_MS
const RECONNECT_MS_MAX = 250

type Redis = import('ioredis').Redis

/** An answer of a script: the time of Redis, a word, and more texts. */
type ScriptAnswer = readonly [now: number, word: string, ...rest: string[]]

/**
 * Opens leases in Redis: `redis://host:6379`, `rediss://user:password@host:6380/1`. Returns when Redis answers, or
 * after the deadline; the connection is made in the background then. Throws `ConfigError` for an invalid URL.
 */
export async function openRedisLeases(url: string): Promise<RedisLeases> {
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url))
    throw new ConfigError('--store', 'not an address of Redis', 'write redis://host:6379, or rediss:// for TLS.')
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, {
    commandTimeout: STORE_DEADLINE_MS, connectTimeout: STORE_DEADLINE_MS, enableOfflineQueue: false,
    maxRetriesPerRequest: 0, retryStrategy: (tries) => Math.min(RECONNECT_MS_MAX, 25 * tries),
    autoResubscribe: false, enableReadyCheck: false, keepAlive: 5000,
  })
  const leases = new RedisLeases(redis)
  await new Promise<void>((resolve) => {
    const late = setTimeout(resolve, STORE_DEADLINE_MS)
    redis.once('ready', () => {
      clearTimeout(late)
      resolve()
    })
  })
  return leases
}

export class RedisLeases implements Leases {
  readonly isShared: boolean = true
  readonly #redis: Redis
  /** A second connection: one that listens can do nothing else. */
  #subscriber: Redis | undefined
  readonly #listeners: Map<string, Set<MessageListener>> = new Map()
  /** The clock of Redis minus ours, in ms. */
  #offsetMs: number | undefined
  #failedSince: number | undefined
  #probe: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(redis: Redis) {
    this.#redis = redis
    // Every call has its own answer; an error of the connection has no other receiver.
    redis.on('error', () => {})
  }

  get isDegraded(): boolean {
    return this.#failedSince !== undefined
  }

  async put(kind: LeaseKind, id: string, owner: string, value: string, ttlMs: number): Promise<PutAnswer> {
    const keys = leaseKeys(kind, id)
    if (keys === undefined || !isPut(owner, value, ttlMs)) return 'invalid'
    const { lease, ids, expiries, number } = keys
    const said = await this.#run(PUT, [lease, ids, expiries, number], [id, owner, value, ttlMs, LEASE_KINDS[kind]])
    if (said === 'unavailable') return said
    const [, word, given] = said
    return word === 'ok' ? Number(given) : word === 'taken' || word === 'full' ? word : 'unavailable'
  }

  async touch(kind: LeaseKind, id: string, owner: string, ttlMs: number): Promise<'ok' | 'gone' | Unavailable> {
    const keys = leaseKeys(kind, id)
    if (keys === undefined || !isTtl(ttlMs)) return 'gone'
    const said = await this.#run(TOUCH, [keys.lease, keys.ids, keys.expiries], [id, owner, ttlMs])
    return wordOf(said)
  }

  async drop(kind: LeaseKind, id: string, owner: string): Promise<'ok' | 'gone' | Unavailable> {
    const keys = leaseKeys(kind, id)
    if (keys === undefined || owner === '') return 'gone'
    return wordOf(await this.#run(TAKE, [keys.lease, keys.ids, keys.expiries], [id, owner]))
  }

  async get(kind: LeaseKind, id: string): Promise<Lease | undefined | Unavailable> {
    const keys = leaseKeys(kind, id)
    if (keys === undefined) return undefined
    const said = await this.#call((redis) => redis.hmget(keys.lease, 'owner', 'value', 'number'))
    return said === 'unavailable' ? said : leaseOf(id, said[0], said[1], said[2])
  }

  async page(kind: LeaseKind, after: string, limit: number): Promise<LeasePage | Unavailable> {
    const { ids, expiries } = kindKeys(kind)
    const from = leaseKeys(kind, after) === undefined ? '' : after
    const said = await this.#run(PAGE, [`tw:{${kind}}:lease:`, ids, expiries], [from, pageSize(limit)])
    if (said === 'unavailable' || said[1] !== 'ok') return 'unavailable'
    const leases: Lease[] = []
    for (let at = 3; at + 3 < said.length; at += 4) {
      const lease = leaseOf(said[at] as string, said[at + 1] as string, said[at + 2] as string, said[at + 3] as string)
      if (lease !== undefined) leases.push(lease)
    }
    return { leases, next: said[2] === '' ? undefined : said[2] }
  }

  async take(kind: LeaseKind, id: string): Promise<Lease | undefined | Unavailable> {
    const keys = leaseKeys(kind, id)
    if (keys === undefined) return undefined
    const said = await this.#run(TAKE, [keys.lease, keys.ids, keys.expiries], [id, ''])
    if (said === 'unavailable' || said[1] === 'late') return 'unavailable'
    return leaseOf(id, said[2], said[3], said[4])
  }

  async count(kind: LeaseKind, id: string, windowMs: number): Promise<number | Unavailable> {
    const keys = leaseKeys(kind, id)
    if (keys === undefined || !isTtl(windowMs)) return 'unavailable'
    const said = await this.#call((redis) => runScript(redis, COUNT, [keys.count], [windowMs]))
    return said === 'unavailable' ? said : Number(said)
  }

  async send(instance: string, text: string): Promise<SendAnswer> {
    const channel = instanceChannel(instance)
    if (channel === undefined) return 'gone'
    if (Buffer.byteLength(text) > MESSAGE_BYTES_MAX) return 'too-large'
    const receivers = await this.#call((redis) => redis.publish(channel, text))
    return receivers === 'unavailable' ? receivers : receivers > 0 ? 'ok' : 'gone'
  }

  onMessage(instance: string, listener: MessageListener): () => void {
    const channel = instanceChannel(instance)
    if (channel === undefined) return () => {}
    const listeners = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, listeners.add(listener))
    const subscriber = this.#subscriber ??= this.#openSubscriber()
    if (subscriber.status === 'ready') ignore(subscriber.subscribe(channel))
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      this.#listeners.delete(channel)
      if (subscriber.status === 'ready') ignore(subscriber.unsubscribe(channel))
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#probe)
    this.#redis.disconnect()
    this.#subscriber?.disconnect()
  }

  #openSubscriber(): Redis {
    const subscriber = this.#redis.duplicate()
    subscriber.on('error', () => {})
    subscriber.on('ready', () => {
      for (const channel of this.#listeners.keys()) ignore(subscriber.subscribe(channel))
    })
    subscriber.on('message', (channel: string, text: string) => {
      for (const listener of this.#listeners.get(channel) ?? []) listener(text)
    })
    return subscriber
  }

  /** Runs a script, with its deadline as the first argument. */
  async #run(
    script: RedisScript, keys: readonly string[], args: readonly (string | number)[],
  ): Promise<ScriptAnswer | Unavailable> {
    const deadline = this.#offsetMs === undefined ? 0 : Math.ceil(monotonicNow() + this.#offsetMs + LATE_MS)
    const said = await this.#call((redis) => runScript(redis, script, keys, [deadline, ...args]))
    if (!Array.isArray(said)) return 'unavailable'
    this.#offsetMs = Number(said[0]) - monotonicNow()
    return said as unknown as ScriptAnswer
  }

  async #call<Answer>(ask: (redis: Redis) => Promise<Answer>): Promise<Answer | Unavailable> {
    if (this.#isClosed || this.#failedSince !== undefined) return 'unavailable'
    const now = monotonicNow()
    try {
      return await ask(this.#redis)
    } catch {
      this.#failedSince ??= now
      this.#probe ??= setTimeout(() => void this.#ping(), PROBE_MS).unref()
      return 'unavailable'
    }
  }

  /** Calls are made again after Redis has answered. */
  async #ping(): Promise<void> {
    try {
      // An error of Redis is an answer.
      await this.#redis.ping().catch((error: Error) => { if (error.name !== 'ReplyError') throw error })
      this.#probe = this.#failedSince = undefined
    } catch {
      if (this.#isClosed) return
      const silentMs = monotonicNow() - (this.#failedSince ?? 0)
      if (this.#redis.status === 'ready' && silentMs > SILENT_MS) {
        this.#failedSince = monotonicNow()
        this.#redis.disconnect(true)
      }
      this.#probe = setTimeout(() => void this.#ping(), PROBE_MS).unref()
    }
  }
}

/** Sends the name of a script, and the script itself when Redis does not know it. */
async function runScript(
  redis: Redis, { text, sha1 }: RedisScript, keys: readonly string[], args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(sha1, keys.length, ...keys, ...args)
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error
    return await redis.eval(text, keys.length, ...keys, ...args)
  }
}

function wordOf(said: ScriptAnswer | Unavailable): 'ok' | 'gone' | Unavailable {
  if (said === 'unavailable' || said[1] === 'late') return 'unavailable'
  return said[1] === 'ok' ? 'ok' : 'gone'
}

function leaseOf(
  id: string, owner: string | null | undefined, value: string | null | undefined, number: string | null | undefined,
): Lease | undefined {
  if (typeof owner !== 'string' || typeof value !== 'string' || typeof number !== 'string') return undefined
  return { id, owner, value, number: Number(number) }
}

/** The listener subscribes again when the connection is ready again. */
function ignore(promise: Promise<unknown>): void {
  promise.catch(() => {})
}
