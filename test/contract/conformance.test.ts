/**
 * `tickwire conformance` against our own server over real UDP, and against servers that are not as they should be.
 */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServerHost } from 'tickwire'
import { monotonicNow as now, openUdp, systemEntropy } from 'tickwire/node'
import { afterAll, expect, test } from 'vitest'
import { game } from '../../games/hello/game.ts'
import { CHECKS, conformance } from '../../packages/tickwire/src/cli/conformance.ts'
import { startTickwire } from '../../packages/tickwire/src/cli/run.ts'

interface Report {
  readonly kept: number
  readonly broken: number
  readonly notTried: number
  readonly checks: readonly { readonly id: string; readonly outcome: string; readonly seen: string }[]
}

const HEX = Buffer.from(game.fingerprint).toString('hex')
/** Answers are at hand here, but machines may be busy. */
const PATIENCE = ['--patience', '1500', '--json']

const cleanups: (() => void)[] = []
// They mostly wait, so they wait together.
afterAll(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

/** A server of ours on a free port; gives its address. */
async function serveHello(): Promise<string> {
  const port = await openUdp({ port: 0, address: '127.0.0.1' })
  const host = createServerHost(game, { entropy: systemEntropy })
  const pump = (): void => {
    host.tick(now())
    host.drain(now(), port)
  }
  port.onDatagram = (from, bytes, length) => {
    host.handleDatagram(now(), from, bytes, length)
    host.drain(now(), port)
  }
  const timer = setInterval(pump, 10)
  cleanups.push(() => {
    clearInterval(timer)
    port.close()
  })
  return port.localAddress
}

async function check(address: string, ...options: readonly string[]): Promise<Report & { readonly code: number }> {
  let printed = ''
  const code = await conformance.run([address, ...PATIENCE, ...options], {
    print: (line) => {
      printed = line
    },
    complain: () => {}, nowSeconds: () => 0, entropy: systemEntropy,
  })
  return { ...JSON.parse(printed) as Report, code }
}

const broken = ({ checks }: Report): readonly string[] => checks.filter(({ outcome }) => outcome === 'broken').map(({ id, seen }) => `${id}: ${seen}`)

test.concurrent('[CONF1] our own server keeps every sentence that can be tried quickly', async () => {
  const report = await check(await serveHello(), '--quick', '--fingerprint', HEX)
  expect(broken(report)).toEqual([])
  expect(report).toMatchObject({ code: 0, broken: 0, notTried: 0, kept: CHECKS.filter(({ isSlow }) => isSlow !== true).length })
}, 180_000)

test.concurrent('[CONF1] the two that wait for a server to forget are kept, too', async () => {
  const report = await check(await serveHello(), '--only', 'answer-old-cookie', '--only', 'silence', '--fingerprint', HEX)
  expect(broken(report)).toEqual([])
  expect(report.kept).toBe(2)
}, 180_000)

test.concurrent('[CONF2] whoever answers everything with what he got breaks what strangers are promised', async () => {
  const echo = createSocket('udp4')
  echo.on('message', (bytes, from) => echo.send(bytes, from.port, from.address))
  echo.bind(0, '127.0.0.1')
  await once(echo, 'listening')
  cleanups.push(() => echo.close())
  const report = await check(`127.0.0.1:${echo.address().port}`, '--patience', '60', ...['ask-challenge', 'ask-length', 'ask-noise', 'ask-version', 'acks'].flatMap((id) => ['--only', id]))
  expect(report.checks.map(({ id, outcome }) => [id, outcome])).toEqual([
    ['ask-challenge', 'broken'], ['ask-length', 'broken'], ['ask-noise', 'broken'], ['ask-version', 'broken'], ['acks', 'not tried'],
  ])
  expect(report.code).toBe(1)
}, 60_000)

/** What a middleman does to the bytes between a client and a good server; undefined drops them. */
interface Middleman {
  toServer?(bytes: Buffer): Buffer | undefined
  toClient?(bytes: Buffer): Buffer | undefined
}

/** A good server spoilt by whoever stands before it. */
async function spoil(middleman: Middleman): Promise<string> {
  const [, host = '', number = ''] = /^(.*):(\d+)$/.exec(await serveHello()) ?? []
  const front = createSocket('udp4')
  const backs = new Map<number, ReturnType<typeof createSocket>>()
  front.on('message', (bytes, from) => {
    let back = backs.get(from.port)
    if (back === undefined) {
      back = createSocket('udp4')
      back.on('message', (answer) => {
        const told = middleman.toClient === undefined ? answer : middleman.toClient(answer)
        if (told !== undefined) front.send(told, from.port, from.address)
      })
      backs.set(from.port, back)
    }
    const told = middleman.toServer === undefined ? bytes : middleman.toServer(bytes)
    if (told !== undefined) back.send(told, Number(number), host)
  })
  front.bind(0, '127.0.0.1')
  await once(front, 'listening')
  cleanups.push(() => {
    front.close()
    for (const back of backs.values()) back.close()
  })
  return `127.0.0.1:${front.address().port}`
}

const IS_SEALED = (bytes: Buffer): boolean => bytes[4] === 1 || bytes[4] === 2

test.concurrent.each<[string, string, Middleman]>([
  ['takes requests that are too short', 'ask-length', { toServer: (bytes) => bytes[4] === 0 ? Buffer.concat([bytes], 1200) : bytes }],
  ['is another version without saying so', 'ask-version', { toClient: (bytes) => bytes[15] === 4 ? undefined : bytes }],
  ['accepts another way the second time', 'accept-again', spoilSecondAcceptance()],
  ['skips numbers', 'sequence', { toClient: (bytes) => IS_SEALED(bytes) && (bytes[14]! & 1) === 1 && bytes[14]! > 3 ? undefined : bytes }],
  ['says nothing at the end', 'goodbye', { toClient: (bytes) => bytes[4] === 3 ? undefined : bytes }],
  ['keeps its resets', 'reset', { toClient: (bytes) => bytes[4] === 0 && bytes[15] === 6 ? undefined : bytes }],
  ['keeps its path checks', 'path-check', { toClient: (bytes) => IS_SEALED(bytes) && bytes[14]! > 2 ? undefined : bytes }],
])('[CONF3] a server that %s breaks "%s"', async (_what, id, middleman) => {
  const report = await check(await spoil(middleman), '--patience', '300', '--only', id, '--fingerprint', HEX)
  expect(report.checks[0]?.outcome).not.toBe('kept')
  expect(report.code).toBe(1)
}, 60_000)

function spoilSecondAcceptance(): Middleman {
  let count = 0
  return {
    toClient: (bytes) => {
      if (bytes[4] === 0 && bytes[15] === 3 && count++ > 0) return undefined
      return bytes
    },
  }
}

test.concurrent('[CONF4] without the fingerprint only what strangers are told is tried; the rest is named', async () => {
  const report = await check(await serveHello(), '--quick', '--only', 'ask-challenge', '--only', 'accept')
  expect(report.checks.map(({ outcome, seen }) => [outcome, seen])).toEqual([['kept', ''], ['not tried', 'refused: schema']])
  expect(report.code).toBe(1)
}, 60_000)

test('[CONF5] each check names a heading that the pages of the wire have, and nothing of the tool knows the engine', () => {
  for (const { section } of CHECKS) {
    const [page = '', heading = ''] = section.split(/, (.*)/)
    expect(readFileSync(new URL(`../../docs/wire/${page}`, import.meta.url), 'utf8')).toMatch(new RegExp(`^##+ ${heading}`, 'm'))
  }
  for (const file of ['check', 'checks-asking', 'checks-connected', 'checks-leaving', 'keys', 'line', 'packets', 'session', 'visit']) {
    const source = readFileSync(new URL(`../../packages/tickwire/src/cli/conformance/${file}.ts`, import.meta.url), 'utf8')
    for (const [, from = ''] of source.matchAll(/from '([^']+)'/g)) expect(from).toMatch(/^(node:|\.\/)/)
  }
})

test.each([
  ['localhost', 'is no HOST:PORT'], ['localhost:0', 'with a port from 1 to 65535'], ['localhost:65536', 'with a port from 1 to 65535'], ['nowhere.invalid:4001', 'nowhere.invalid is not found'],
])('%s is no server, and it is said why', async (address, words) => {
  let err = ''
  const code = await startTickwire(['conformance', address], { print: () => {}, complain: (line) => { err += line }, nowSeconds: () => 0, entropy: systemEntropy })
  expect([code, err]).toEqual([2, expect.stringContaining(words)])
})
