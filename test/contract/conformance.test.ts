/**
 * `tickwire conformance` against our own server over real UDP, and against faulty servers.
 */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createMatchHost } from 'tickwire/engine'
import { monotonicNow as now, openUdp, serve, systemEntropy } from 'tickwire/node'
import { afterAll, expect, test } from 'vitest'
import { game } from '../../games/hello/game.ts'
import { ALL_CHECKS, CHECKS, conformance } from '../../packages/tickwire/src/cli/conformance.ts'
import { startTickwire } from '../../packages/tickwire/src/cli/run.ts'

interface Report {
  readonly kept: number
  readonly broken: number
  readonly notTried: number
  readonly checks: readonly { readonly id: string; readonly outcome: string; readonly seen: string }[]
}

const HEX = Buffer.from(game.fingerprint).toString('hex')
/** Answers come quickly here, but machines may be busy. */
const PATIENCE = ['--patience', '1500', '--json']

const cleanups: (() => void)[] = []
// The tests mostly wait, so they run concurrently.
afterAll(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

/** A server of ours on a free port; returns its address. */
async function serveHello(): Promise<string> {
  const port = await openUdp({ port: 0, address: '127.0.0.1' })
  const { rooms } = createMatchHost(game, { entropy: systemEntropy })
  const pump = (): void => {
    rooms.tick(now())
    rooms.drain(now(), port)
  }
  port.onDatagram = (from, bytes, length) => {
    rooms.handleDatagram(now(), from, bytes, length)
    rooms.drain(now(), port)
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

const broken = ({ checks }: Report): readonly string[] =>
  checks.filter(({ outcome }) => outcome === 'broken').map(({ id, seen }) => `${id}: ${seen}`)

test.concurrent(
  '[CONF1] our own server passes every check that can be run quickly',
  async () => {
    const report = await check(await serveHello(), '--quick', '--fingerprint', HEX)
    expect(broken(report)).toEqual([])
    expect(report).toMatchObject({
      code: 0,
      broken: 0,
      notTried: 0,
      kept: CHECKS.filter(({ isSlow }) => isSlow !== true).length,
    })
  },
  180_000,
)

test.concurrent(
  '[CONF1] the last line is a summary, and the exit code is 0 when every check passes',
  async () => {
    const printed: string[] = []
    const world = {
      print: (line: string) => {
        printed.push(line)
      },
      complain: () => {},
      nowSeconds: () => 0,
      entropy: systemEntropy,
    }
    const code = await conformance.run(
      [
        await serveHello(),
        '--patience',
        '700',
        '--only',
        'ask-challenge',
        '--only',
        'ask-length',
        '--fingerprint',
        HEX,
      ],
      world,
    )
    expect([code, printed.at(-1)]).toEqual([0, 'PASS: 2 FAIL: 0 NOT TRIED: 0 TOTAL: 2'])
  },
  180_000,
)

test.concurrent(
  '[CONF1] the two checks that wait for a server to forget pass, too',
  async () => {
    const report = await check(
      await serveHello(),
      '--only',
      'answer-old-cookie',
      '--only',
      'silence',
      '--fingerprint',
      HEX,
    )
    expect(broken(report)).toEqual([])
    expect(report.kept).toBe(2)
  },
  180_000,
)

test.concurrent(
  '[CONF2] a server that echoes every packet fails the checks of unauthenticated packets',
  async () => {
    const echo = createSocket('udp4')
    echo.on('message', (bytes, from) => echo.send(bytes, from.port, from.address))
    echo.bind(0, '127.0.0.1')
    await once(echo, 'listening')
    cleanups.push(() => echo.close())
    const report = await check(
      `127.0.0.1:${echo.address().port}`,
      ...['ask-challenge', 'ask-length', 'ask-noise', 'ask-version', 'acks'].flatMap((id) => ['--only', id]),
    )
    expect(report.checks.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['ask-challenge', 'broken'],
      ['ask-length', 'broken'],
      ['ask-noise', 'broken'],
      ['ask-version', 'broken'],
      ['acks', 'not tried'],
    ])
    expect(report.code).toBe(1)
  },
  60_000,
)

test.concurrent(
  '[CONF4] without the fingerprint only unauthenticated checks run; the others are named',
  async () => {
    const report = await check(await serveHello(), '--quick', '--only', 'ask-challenge', '--only', 'accept')
    expect(report.checks.map(({ outcome, seen }) => [outcome, seen])).toEqual([
      ['kept', ''],
      ['not tried', 'refused: schema'],
    ])
    expect(report.code).toBe(1)
  },
  60_000,
)

test.concurrent(
  '[CONF6] the port that a server prints is enough: its page says the UDP port and the fingerprint',
  async () => {
    const serving = await serve(game, { port: 0, webtransport: false, webrtc: false, signals: false, ops: false })
    cleanups.push(() => void serving.close())
    const printed: string[] = []
    const code = await startTickwire(
      ['conformance', `localhost:${new URL(serving.url).port}`, '--only', 'ask-challenge', '--only', 'acks'],
      { print: (line) => printed.push(line), complain: () => {}, nowSeconds: () => 0, entropy: systemEntropy },
    )
    expect(printed[0]).toContain(`its UDP port is ${serving.info.udp!.port}`)
    expect([code, printed.at(-1)]).toEqual([0, 'PASS: 2 FAIL: 0 NOT TRIED: 0 TOTAL: 2'])
  },
  60_000,
)

test.concurrent('[CONF6] a server without UDP is named as such', async () => {
  const serving = await serve(game, {
    port: 0, udp: false, webtransport: false, webrtc: false, signals: false, ops: false,
  })
  cleanups.push(() => void serving.close())
  const complaints: string[] = []
  const code = await startTickwire(['conformance', `localhost:${new URL(serving.url).port}`], {
    print: () => {}, complain: (line) => complaints.push(line), nowSeconds: () => 0, entropy: systemEntropy,
  })
  expect([code, complaints[0]]).toEqual([2, expect.stringContaining('a server without UDP')])
})

test('[CONF5] each check names a heading of the wire pages, and the tool imports no engine code', () => {
  for (const { section } of ALL_CHECKS) {
    const [page = '', heading = ''] = section.split(/, (.*)/)
    expect(readFileSync(new URL(`../../docs/wire/${page}`, import.meta.url), 'utf8')).toMatch(
      new RegExp(`^##+ ${heading}`, 'm'),
    )
  }
  const folder = new URL('../../packages/tickwire/src/cli/conformance/', import.meta.url)
  for (const file of readdirSync(folder)) {
    const source = readFileSync(new URL(file, folder), 'utf8')
    for (const [, from = ''] of source.matchAll(/from '([^']+)'/g)) expect(from).toMatch(/^(node:|\.\/)/)
  }
})

test.each([
  ['localhost', 'is not HOST:PORT'],
  ['localhost:0', 'with a port from 1 to 65535'],
  ['localhost:65536', 'with a port from 1 to 65535'],
  ['nowhere.invalid:4001', 'nowhere.invalid: host not found'],
])('%s is not a server address, and the reason is printed', async (address, words) => {
  let err = ''
  const code = await startTickwire(['conformance', address], {
    print: () => {},
    complain: (line) => {
      err += line
    },
    nowSeconds: () => 0,
    entropy: systemEntropy,
  })
  expect([code, err]).toEqual([2, expect.stringContaining(words)])
})
