/** The tracker and the token issuer over HTTP: leases, signatures, tokens, filters, limits, Redis. */

import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bestProvider } from 'tickwire/node'
import { createTokenCheck, issueToken, textToToken, tokenToText, verifyToken } from 'tickwire/engine'
import {
  serveIssuer, serveTracker, type ServingIssuer, type ServingTracker,
} from '../../packages/services/src/index.ts'
import { TokenDoor } from '../../packages/services/src/issue/token-door.ts'
import { createRelayTokenCheck, verifyRelayToken } from '../../packages/tickwire/src/core/nat/relay-token.ts'
import { hasRedis, RedisServer } from './redis-server.ts'
import { ask, TestHost, until } from './tracker-stage.ts'

const API_KEY = 'an-api-key-of-the-tests'
const secrets = [new Uint8Array(32).fill(9), new Uint8Array(32).fill(8)]
let issuer: ServingIssuer
let tracker: ServingTracker
let [tokensUrl, listUrl] = ['', '']
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  issuer = await serveIssuer({ port: 0, address: '127.0.0.1', keys: secrets, apiKeys: [API_KEY] })
  tracker = await serveTracker({
    port: 0, address: '127.0.0.1', issuers: issuer.issuer.publicKeys, heartbeatTtlMs: 2000, publishesPerMinute: 1000,
    listingsPerOrigin: 100, requestsPerMinute: 10_000,
  })
  tokensUrl = `http://127.0.0.1:${issuer.port}/v1/tokens`
  listUrl = `http://127.0.0.1:${tracker.port}/v1/listings`
})

afterAll(async () => {
  for (const close of [...closing, () => tracker.close(), () => issuer.close()]) await close()
})

const tokenFor = async ({ identity }: TestHost): Promise<string> =>
  (await ask('POST', tokensUrl, { purpose: 'publish', server: identity }, API_KEY)).body.token
const listed = async (query: string = ''): Promise<string[]> =>
  (await ask('GET', `${listUrl}${query}`)).body.listings.map(({ name }: { name: string }) => name)

describe('publishing', () => {
  test('[TRACK1] browsing needs no token, publishing needs one of the host itself', async () => {
    const [host, other] = [new TestHost(1), new TestHost(2)]
    expect((await ask('GET', listUrl)).status).toBe(200)
    expect(await ask('POST', listUrl, { listing: host.sign() })).toMatchObject({
      status: 401, body: { error: { code: 'token-missing' } },
    })
    expect((await ask('POST', listUrl, { listing: host.sign() }, await tokenFor(other))).status).toBe(403)
    const { status, body } = await ask('POST', listUrl, { listing: host.sign() }, await tokenFor(host))
    expect([status, body.ttlMs, body.heartbeatMs]).toEqual([201, 2000, 666])
    await until(async () => (await listed()).includes('match 1'))
    expect((await ask('DELETE', `${listUrl}/${body.id}`, undefined, body.lease)).status).toBe(204)
    await until(async () => !(await listed()).includes('match 1'), 3000)
  })

  test('[TRACK2] only the owner renews, changes and removes; without renewal a listing ends', async () => {
    const host = new TestHost(3)
    const token = await tokenFor(host)
    const { body: { id, lease } } = await ask('POST', listUrl, { listing: host.sign() }, token)
    for (const wrong of [undefined, '', 'f'.repeat(32), token]) {
      expect((await ask('PUT', `${listUrl}/${id}`, {}, wrong)).status).toBe(403)
      expect((await ask('DELETE', `${listUrl}/${id}`, undefined, wrong)).status).toBe(403)
    }
    const changed = host.sign({ name: 'renamed', players: 8, status: 'full' })
    expect((await ask('PUT', `${listUrl}/${id}`, { listing: changed }, lease)).status).toBe(200)
    const stranger = new TestHost(4).sign()
    expect((await ask('PUT', `${listUrl}/${id}`, { listing: stranger }, lease)).status).toBe(403)
    const older = host.sign({ name: 'older' }, Date.now() - 60_000)
    expect((await ask('PUT', `${listUrl}/${id}`, { listing: older }, lease)).status).toBe(409)
    await until(async () => (await listed()).includes('renamed'))
    for (let beat = 0; beat < 4; beat++) {
      await new Promise((resolve) => setTimeout(resolve, 700))
      expect((await ask('PUT', `${listUrl}/${id}`, {}, lease)).status).toBe(200)
    }
    expect(await listed()).toContain('renamed')
    await until(async () => !(await listed()).includes('renamed'), 5000)
    expect(await ask('PUT', `${listUrl}/${id}`, {}, lease)).toMatchObject({
      status: 404, body: { error: { code: 'gone', fix: 'Publish it again.' } },
    })
    expect((await ask('POST', listUrl, { listing: host.sign() }, token)).body.id).toBe(id)
  })

  test('[TRACK3] a listing that its host did not sign, or signed long ago, is refused', async () => {
    const host = new TestHost(5)
    const token = await tokenFor(host)
    const listing = host.sign()
    const { sig: _, ...unsigned } = listing
    for (const altered of [
      { ...listing, players: 7 }, { ...listing, name: 'other' }, { ...listing, sig: new TestHost(6).sign().sig },
      { ...listing, host: { ...listing.host, url: 'https://evil.example/' } }, { ...listing, map: undefined, rules: 5 },
      unsigned, { ...listing, extra: 'field' }, { ...listing, name: 'a\u202eb' }, host.sign({}, Date.now() - 700_000),
    ]) {
      const { status, body } = await ask('POST', listUrl, { listing: altered }, token)
      expect(status, JSON.stringify(altered).slice(0, 80)).toBe(400)
      expect(body.error.fix).not.toBe('')
    }
    expect((await ask('POST', listUrl, { listing }, token)).status).toBe(201)
  })
})

describe('browsing', () => {
  test('[TRACK4] filters and pages have all that fits, once; an unchanged page is not sent again', async () => {
    const hosts = Array.from({ length: 12 }, (_, at) => new TestHost(20 + at))
    for (const [at, host] of hosts.entries()) {
      const listing = host.sign({
        game: 'pages', name: `p${at}`, region: at % 2 === 0 ? 'eu' : 'us', players: at, capacity: 12,
        status: at === 0 ? 'waiting' : 'in_progress', build: `${at % 3}`.repeat(16),
        rules: { mod: 'base', version: at < 6 ? '1.0' : '2.0', custom: { friendly: 'yes' } },
      })
      expect((await ask('POST', listUrl, { listing }, await tokenFor(host))).status).toBe(201)
    }
    await until(async () => (await listed('?game=pages')).length === 12, 2000)
    const names = async (query: string): Promise<number[]> =>
      (await listed(`?game=pages&${query}`)).map((name) => Number(name.slice(1))).sort((a, b) => a - b)
    expect(await names('region=eu')).toEqual([0, 2, 4, 6, 8, 10])
    expect(await names('status=waiting')).toEqual([0])
    expect(await names('seats=10')).toEqual([0, 1, 2])
    expect(await names(`build=${'1'.repeat(16)}`)).toEqual([1, 4, 7, 10])
    expect(await names('version=2.0&region=us')).toEqual([7, 9, 11])
    expect((await ask('GET', `${listUrl}?gmae=pages`)).status).toBe(400)
    const seen: string[] = []
    for (let next = '', pages = 0; pages < 10; pages++) {
      const { body } = await ask('GET', `${listUrl}?game=pages&limit=5${next}`)
      seen.push(...body.listings.map(({ name }: { name: string }) => name))
      if (body.next === undefined) break
      next = `&after=${body.next}`
    }
    expect(seen.toSorted()).toEqual(hosts.map((_, at) => `p${at}`).toSorted())
    const first = await ask('GET', `${listUrl}?game=none`)
    const etag = first.headers.get('etag') ?? ''
    expect(first.headers.get('access-control-allow-origin')).toBe('*')
    const again = await ask('GET', `${listUrl}?game=none`, undefined, undefined, { 'if-none-match': etag })
    expect([again.status, again.body]).toEqual([304, undefined])
  })

  test('[TRACK5] the page of games is read without script, and a listing cannot put code into it', async () => {
    const host = new TestHost(50)
    const listing = host.sign({ name: '<script>alert("x")</script>', game: '"><img src=x>' })
    await ask('POST', listUrl, { listing }, await tokenFor(host))
    const page = `http://127.0.0.1:${tracker.port}/games`
    await until(async () => String((await ask('GET', page)).body).includes('alert'))
    const { body: html, headers } = await ask('GET', page)
    expect(html).not.toContain('<script>alert')
    expect(html).not.toContain('<img')
    expect(html).toContain('&#60;script&#62;alert')
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'sha256-/)
    expect(html).toContain('class="badge verified"')
    expect((await ask('GET', `${page}?game=none`)).body).toContain('No games yet')
  })

  test('[TRACK5] the page of games shows the code of a game', async () => {
    const host = new TestHost(51)
    const listing = host.sign({ name: 'by code', host: { identity: host.identity, code: 'IRON-7K3M' } })
    await ask('POST', listUrl, { listing }, await tokenFor(host))
    const page = `http://127.0.0.1:${tracker.port}/games`
    await until(async () => String((await ask('GET', page)).body).includes('code IRON-7K3M'))
    expect((await ask('GET', page)).body).toContain('join by code')
  })
})

describe('limits', () => {
  test('[TRACK6] an origin publishes a limited number of listings, and dials back to itself only', async () => {
    const small = await serveTracker({
      port: 0, address: '127.0.0.1', publish: 'open', publishesPerMinute: 4, listingsPerOrigin: 2, listingsMax: 50,
    })
    closing.push(() => small.close())
    const url = `http://127.0.0.1:${small.port}/v1/`
    const statuses: number[] = []
    for (let at = 0; at < 6; at++) {
      statuses.push((await ask('POST', `${url}listings`, { listing: new TestHost(60 + at).sign() })).status)
      await until(async () => (await ask('GET', `${url}listings`)).body.listings.length === Math.min(2, at + 1))
    }
    expect(statuses).toEqual([201, 201, 429, 429, 429, 429])
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.socket.remoteAddress ?? '')
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await until(() => server.listening)
    const { port } = server.address() as { port: number }
    const { identity } = new TestHost(70)
    const reach = async (body: object, headers = {}): Promise<unknown> =>
      (await ask('POST', `${url}reach`, body, undefined, headers)).body
    expect(await reach({ port, identity })).toEqual({ address: '127.0.0.1', isReachable: false })
    expect(asked).toEqual(['127.0.0.1'])
    expect(await reach({ port, identity, address: '192.0.2.1' })).toMatchObject({ error: { code: 'bad-request' } })
    expect(await reach({ port, identity }, { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' }))
      .toEqual({ address: '127.0.0.1', isReachable: false })
    const answers = [] as unknown[]
    for (let round = 0; round < 6; round++) answers.push(await reach({ port, identity }))
    expect(answers.at(-1)).toMatchObject({ error: { code: 'too-many-requests' } })
    server.close()
  })
})

describe.skipIf(!hasRedis)('with Redis', () => {
  test('[TRACK7, SERV4] instances share listings; a frozen store is answered in time, and all heals', async () => {
    const redis = await RedisServer.start()
    closing.push(() => redis.kill())
    const open = async (): Promise<string> => {
      const serving = await serveTracker({ port: 0, address: '127.0.0.1', publish: 'open', store: redis.url })
      closing.unshift(() => serving.close())
      return `http://127.0.0.1:${serving.port}/v1/listings`
    }
    const [one, two] = [await open(), await open()]
    const host = new TestHost(80)
    const { body: { id, lease } } = await ask('POST', one, { listing: host.sign() })
    await until(async () => (await ask('GET', two)).body.listings.length === 1, 3000)
    expect((await ask('PUT', `${two}/${id}`, {}, lease)).status).toBe(200)
    redis.freeze()
    const times: number[] = []
    for (const frozenAt = performance.now(); performance.now() - frozenAt < 2500;) {
      const from = performance.now()
      const [browse, renew] = [await ask('GET', two), await ask('PUT', `${one}/${id}`, {}, lease)]
      times.push((performance.now() - from) / 2)
      expect(browse.body.listings).toHaveLength(1)
      expect([renew.status, renew.headers.get('retry-after')]).toEqual([503, '2'])
      expect(renew.body.error).toMatchObject({ code: 'unavailable', message: 'The store does not answer.' })
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(Math.max(...times)).toBeLessThan(600)
    expect((await ask('GET', two)).body.isStale).toBe(true)
    redis.thaw()
    await until(async () => (await ask('GET', two)).body.isStale === false, 4000)
    await redis.flush()
    await until(async () => (await ask('PUT', `${one}/${id}`, {}, lease)).status === 404)
    expect((await ask('POST', one, { listing: host.sign() })).body.id).toBe(id)
    await until(async () => (await ask('GET', two)).body.listings.length === 1, 3000)
  })
})

describe('tokens', () => {
  test('[ISSUE1] tokens are signed for an API key only, and both live keys are published', async () => {
    const { identity } = new TestHost(90)
    const request = { purpose: 'publish', server: identity }
    for (const key of [undefined, 'wrong', `${API_KEY}x`])
      expect((await ask('POST', tokensUrl, request, key)).status).toBe(401)
    expect((await ask('POST', tokensUrl, { purpose: 'connect', server: identity }, API_KEY)).status).toBe(400)
    expect((await ask('POST', tokensUrl, { ...request, seconds: 3601 }, API_KEY)).status).toBe(400)
    const { body } = await ask('GET', `http://127.0.0.1:${issuer.port}/v1/keys`)
    expect(body.keys.map(({ isCurrent }: { isCurrent: boolean }) => isCurrent)).toEqual([true, false])
    // A server with both keys accepts tokens of the issuer before and after the rotation.
    const door = new TokenDoor('publish', issuer.issuer.publicKeys)
    const next = await serveIssuer({ port: 0, address: '127.0.0.1', keys: secrets.toReversed(), apiKeys: [API_KEY] })
    closing.push(() => next.close())
    for (const { port } of [issuer, next]) {
      const answer = await ask('POST', `http://127.0.0.1:${port}/v1/tokens`, { ...request, user: '61' }, API_KEY)
      expect(Buffer.from(door.check(`Bearer ${answer.body.token}`, identity)).toString()).toBe('a')
    }
    for (let wrong = 0; wrong < 12; wrong++) await ask('POST', tokensUrl, request, 'guess')
    expect((await ask('POST', tokensUrl, request, 'guess')).status).toBe(429)
    expect((await ask('POST', tokensUrl, request, API_KEY)).status).toBe(201)
  })

  test('[ISSUE2] a token that is shown at another door is refused: 0 of 20', async () => {
    const { identity } = new TestHost(91)
    const server = Buffer.from(identity, 'hex')
    const [provider, issuers] = [bestProvider(), issuer.issuer.publicKeys]
    const ask5 = async (purpose: string, more: object): Promise<string> =>
      (await ask('POST', tokensUrl, { purpose, audience: 'one', ...more }, API_KEY)).body.token
    const shown = {
      connect: await ask5('connect', { server: identity }), publish: await ask5('publish', { server: identity }),
      fleet: await ask5('fleet', { server: identity }), relay: await ask5('relay', { session: '0'.repeat(32) }),
      api: API_KEY,
    }
    const now = Math.floor(Date.now() / 1000)
    const isOpen = (check: () => unknown): boolean => {
      try {
        return typeof check() !== 'string'
      } catch {
        return false
      }
    }
    const bytes = (text: string): Uint8Array => textToToken(text) ?? new Uint8Array()
    const doors = {
      connect: (text: string) => isOpen(() =>
        verifyToken(createTokenCheck(provider, issuers, 'one', server), bytes(text), now)),
      publish: (text: string) => isOpen(() =>
        new TokenDoor('publish', issuers, 'one').check(`Bearer ${text}`, identity)),
      fleet: (text: string) => isOpen(() => new TokenDoor('fleet', issuers, 'one').check(`Bearer ${text}`, identity)),
      relay: (text: string) => isOpen(() =>
        verifyRelayToken(createRelayTokenCheck(provider, issuers, 'one'), bytes(text), now)),
      api: async (text: string) =>
        (await ask('POST', tokensUrl, { purpose: 'publish', server: identity }, text)).status === 201,
    }
    const opened: string[] = []
    for (const [token, text] of Object.entries(shown))
      for (const [door, check] of Object.entries(doors)) if (await check(text)) opened.push(`${token} ${door}`)
    expect(opened).toEqual(['connect connect', 'publish publish', 'fleet fleet', 'relay relay', 'api api'])
  })

  test('[ISSUE2] a token of another time is refused, with the clock as the reason', () => {
    const { identity } = new TestHost(92)
    const key = bestProvider().importSigning(Uint8Array.from(secrets[0]!))
    const at = (offset: number): string => {
      const issuedAt = Math.floor(Date.now() / 1000) + offset
      return tokenToText(issueToken(bestProvider(), key, {
        server: Buffer.from(identity, 'hex'), id: new Uint8Array(16), issuedAt, expiresAt: issuedAt + 60,
        audience: 'tracker', user: new Uint8Array(),
      }, 'publish'))
    }
    const door = new TokenDoor('publish', issuer.issuer.publicKeys)
    expect(() => door.check(`Bearer ${at(-5)}`, identity)).not.toThrow()
    expect(() => door.check(`Bearer ${at(3)}`, identity)).not.toThrow()
    expect(() => door.check(`Bearer ${at(60)}`, identity)).toThrow(/not-yet/)
    expect(() => door.check(`Bearer ${at(-61)}`, identity)).toThrow(/expired/)
  })
})
