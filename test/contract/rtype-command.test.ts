/** `tickwire rtype` against the shooter as a process, over UDP, and against servers that a middleman makes faulty. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { serveRtype, systemEntropy } from 'tickwire/node'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { RTYPE_CHECKS } from '../../packages/tickwire/src/cli/rtype.ts'
import { Keyboard } from '../../packages/tickwire/src/cli/rtype/keyboard.ts'
import { WorldView } from '../../packages/tickwire/src/cli/rtype/world-view.ts'
import { startTickwire } from '../../packages/tickwire/src/cli/run.ts'
import { endPrograms, Program } from './program.ts'

const SHMUP = new URL('../../games/shmup/server.ts', import.meta.url)
const cleanups: (() => unknown)[] = []
// The tests mostly wait, so they run concurrently.
vi.setConfig({ testTimeout: 120_000, maxConcurrency: 30 })

afterAll(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
  await endPrograms()
})

interface Run {
  readonly code: number
  readonly printed: readonly string[]
  readonly complaints: string
}

async function run(...args: readonly string[]): Promise<Run> {
  const printed: string[] = []
  const complaints: string[] = []
  const code = await startTickwire(['rtype', ...args], {
    print: (line) => { printed.push(line) }, complain: (line) => { complaints.push(line) }, nowSeconds: () => 0,
    entropy: systemEntropy,
  })
  return { code, printed, complaints: complaints.join('\n') }
}

describe('the shooter as a process', () => {
  const program = new Program(SHMUP, ['--port', '0', '--rtype-port', '0'])
  const served = program.says(/R-Type clients: UDP .*:(\d+)\n/).then(([, port]) => `127.0.0.1:${port}`)

  test.concurrent('[RTCLI1] passes every check, and the client prints what happens', async () => {
    const { code, printed } = await run(await served, '--quick', '--name', 'Ada')
    expect(printed.filter((line) => /^fail|but:/.test(line))).toEqual([])
    const count = RTYPE_CHECKS.length - 1
    expect(printed.at(-1)).toBe(`PASS: ${count} FAIL: 0 NOT TRIED: 0 TOTAL: ${count}`)
    expect(code).toBe(0)
    const story = printed.join('\n')
    for (const part of ['accepted as player', 'level 1, The Drift', 'your ship appears', 'round trip']) {
      expect(story).toContain(part)
    }
    expect(story).toMatch(/the game starts with [1-4] players/)
  })

  test.concurrent('[RTCLI1] a client without HEARTBEAT is removed after 10 s', async () => {
    const { code, printed } = await run(await served, '--json', '--only', 'silence', '--seconds', '3')
    expect(JSON.parse(printed.at(-1)!)).toMatchObject({ pass: 1, fail: 0, checks: [{ id: 'silence', seen: '' }] })
    expect(code).toBe(0)
  })
})

/** What a middleman does to datagrams; undefined drops them. */
interface Middleman {
  toServer?(bytes: Buffer): Buffer | undefined
  toClient?(bytes: Buffer): Buffer | undefined
}

/** A server with one level and one ship. Returns its port. */
async function serveSmall(): Promise<number> {
  const server = await serveRtype({ port: 0, address: '127.0.0.1', log: () => {} }, (event) => {
    if (event.kind !== 'join') return
    const { peer } = event
    server.send(peer, { type: 'LEVEL_START', levelId: 1, levelName: 'Test', estimatedDurationS: 9 })
    server.send(peer, {
      type: 'ENTITY_SPAWN', entityId: peer.playerId, entityType: 1, posX: 9, posY: 9, mobVariant: 0, initialHealth: 9,
      velX: 0, velY: 0, isPlayable: true,
    })
  })
  cleanups.push(() => server.close())
  return Number(server.port.localAddress.split(':').at(-1))
}

/** A good server made faulty by a middleman; returns its address. */
async function spoil({ toServer = (bytes) => bytes, toClient = (bytes) => bytes }: Middleman): Promise<string> {
  const port = await serveSmall()
  const front = createSocket('udp4')
  const backs = new Map<number, ReturnType<typeof createSocket>>()
  front.on('message', (bytes, from) => {
    let back = backs.get(from.port)
    if (back === undefined) {
      back = createSocket('udp4')
      back.on('message', (answer) => {
        const passed = toClient(answer)
        if (passed !== undefined) front.send(passed, from.port, from.address)
      })
      backs.set(from.port, back)
    }
    const passed = toServer(bytes)
    if (passed !== undefined) back.send(passed, port, '127.0.0.1')
  })
  front.bind(0, '127.0.0.1')
  await once(front, 'listening')
  cleanups.push(() => {
    front.close()
    for (const back of backs.values()) back.close()
  })
  return `127.0.0.1:${front.address().port}`
}

const [ACCEPT, REJECT, DISCONNECT, SPAWN, LEVEL_START, ACK, PING, PONG] = [2, 3, 4, 0x21, 0x63, 0x70, 0x71, 0x72]
const SEQUENCE_AT = 4
const TIMESTAMP_AT = 8

/** Changes packets of one type to the client. */
function patch(type: number, change: (bytes: Buffer) => Buffer | undefined): Middleman {
  return { toClient: (bytes) => (bytes[2] === type ? change(bytes) : bytes) }
}

function set(at: number, value: number): (bytes: Buffer) => Buffer {
  return (bytes) => {
    bytes[at] = value
    return bytes
  }
}

function once32(): Middleman {
  const seen = new Set<number>()
  return {
    toClient: (bytes) => {
      const isCopy = bytes[3] === 1 && seen.has(bytes.readUInt32BE(SEQUENCE_AT))
      seen.add(bytes.readUInt32BE(SEQUENCE_AT))
      return isCopy ? undefined : bytes
    },
  }
}

/** Gives a PING its last byte, which is that of the PINGs before. */
function completePings(): Middleman {
  let last = 0
  return {
    toServer: (bytes) => {
      if (bytes[2] !== PING) return bytes
      last = bytes[19] ?? last
      return Buffer.concat([bytes.subarray(0, 19), Buffer.of(last)])
    },
  }
}

let draws = 0

describe('faulty servers', () => {
  test.concurrent.each<[string, string, Middleman]>([
    ['has another magic', 'magic', patch(PONG, set(0, 0x53))],
    ['sends a byte more', 'sizes', patch(PONG, (bytes) => Buffer.concat([bytes, Buffer.of(0)]))],
    ['sends packets of clients', 'direction', patch(PONG, set(2, PING))],
    ['sets reserved flags', 'flags', patch(PONG, set(3, 0x80))],
    ['sends spawns without RELIABLE', 'reliable-flag', patch(SPAWN, set(3, 0))],
    ['has one sequence for all', 'sequence', patch(PONG, set(SEQUENCE_AT + 3, 7))],
    ['has timestamps of another epoch', 'timestamp', patch(PONG, set(TIMESTAMP_AT, 9))],
    ['draws a new player id each time', 'accept-again', patch(ACCEPT, (bytes) => set(12, ++draws)(bytes))],
    ['answers no PING', 'ping', patch(PONG, () => undefined)],
    ['acknowledges nothing', 'ack', patch(ACK, () => undefined)],
    ['acknowledges no goodbye', 'disconnect', patch(ACK, () => undefined)],
    ['sends nothing again', 'repeat', once32()],
    ['sends something else again', 'repeat-same', patch(LEVEL_START, (bytes) => set(13, 65 + (++draws % 26))(bytes))],
    ['receives no acknowledgement', 'repeat-end', { toServer: (bytes) => (bytes[2] === ACK ? undefined : bytes) }],
    ['answers packets with another magic', 'ignore-magic', { toServer: set(0, 0x52) }],
    ['reads what is cut short', 'ignore-short', completePings()],
    ['cuts what is too long', 'ignore-long', { toServer: (bytes) => bytes.subarray(0, bytes[2] === PING ? 20 : 49) }],
    ['leaves at any goodbye', 'disconnect-flag', {
      toServer: (bytes) => (bytes[2] === DISCONNECT ? set(3, 1)(bytes) : bytes),
    }],
    ['rejects without a word', 'reject-name', patch(REJECT, () => undefined)],
    ['rejects with another code', 'reject-version', patch(REJECT, set(12, 9))],
    ['does not move the ship', 'input', {}],
  ])('[RTCLI2] a server that %s fails "%s"', async (_what, id, middleman) => {
    const address = await spoil(middleman)
    const { code, printed } = await run(address, '--json', '--only', id, '--seconds', '3', '--patience', '2000')
    const [check] = (JSON.parse(printed.at(-1)!) as { checks: { outcome: string; seen: string }[] }).checks
    expect(check).toMatchObject({ outcome: 'fail', seen: expect.stringMatching(/./) })
    expect(code).toBe(1)
  })
})

test.concurrent('[RTCLI3] mistakes on the command line are refused with their fix', async () => {
  expect(await run('--help')).toMatchObject({ code: 0, printed: [expect.stringContaining('tickwire rtype HOST:PORT')] })
  expect(await run()).toMatchObject({ code: 2, complaints: expect.stringContaining('Give one server, as HOST:PORT.') })
  expect((await run('localhost')).complaints).toContain('"localhost" is not HOST:PORT. Fix: write localhost:4242')
  expect((await run('127.0.0.1:9', '--nme', 'Ada')).complaints).toContain('Unknown option \'--nme\'')
  expect((await run('127.0.0.1:9', '--name', '')).complaints).toContain('--name: expected 1 to 31 bytes, got 0')
  expect((await run('127.0.0.1:9', '--only', 'x')).complaints).toContain('unknown check "x". Fix: --list')
  expect((await run('127.0.0.1:9', '--seconds', '1')).complaints).toContain('expected an integer from 3 to 3600')
  expect((await run('127.0.0.1:9', '--play')).complaints).toContain('--play: standard input is not a terminal.')
  const none = await run('127.0.0.1:9', '--patience', '300')
  expect(none.complaints).toMatch(/no R-Type server answers \(.*\)\. Fix: start one/)
  expect(none.code).toBe(2)
  expect((await run('--list')).printed).toHaveLength(RTYPE_CHECKS.length)
})

test.concurrent('[RTCLI3] a server that rejects the client is a failure that names the reason', async () => {
  const server = await serveRtype({ port: 0, address: '127.0.0.1', log: () => {}, isBanned: () => true }, () => {})
  cleanups.push(() => server.close())
  const { code, printed } = await run(server.port.localAddress, '--only', 'accept', '--only', 'ping', '--quiet')
  expect(printed).toEqual([
    expect.stringMatching(/^fail +accept /),
    expect.stringContaining('but: rejected with code 3: This client is banned.'),
    expect.stringMatching(/^not tried +ping /), expect.stringContaining('not accepted'),
    'PASS: 0 FAIL: 1 NOT TRIED: 1 TOTAL: 2',
  ])
  expect(code).toBe(1)
})

test('[RTCLI4] each check names a heading of the wire page', () => {
  const page = readFileSync(new URL('../../docs/wire/RTYPE.md', import.meta.url), 'utf8')
  for (const { section } of RTYPE_CHECKS) expect(page).toContain(`\n## ${section}\n`)
})

test('[RTCLI5] the field is drawn as text, and keys are held for a moment', () => {
  const view = new WorldView()
  const spawn = { type: 'ENTITY_SPAWN', mobVariant: 0, initialHealth: 1, velX: 0, velY: 0, isPlayable: false } as const
  view.handle(0, { type: 'SERVER_ACCEPT', assignedPlayerId: 7, maxPlayers: 4, gameInstanceId: 1, serverTickrate: 60 })
  expect(view.handle(0, { ...spawn, entityId: 7, entityType: 1, posX: 0, posY: 0 })).toBe('your ship appears')
  view.handle(0, { ...spawn, entityId: 8, entityType: 2, posX: 959, posY: 539 })
  expect(view.draw(0, 4, 2)).toEqual(['+----+', '|@   |', '|   <|', '+----+'])
  view.handle(0, { type: 'ENTITY_DESTROY', entityId: 8, destroyReason: 0, posX: 0, posY: 0 })
  expect(view.summary()).toBe('level 0, score 0, health 0; players 1')
  const keyboard = new Keyboard()
  keyboard.press('\u001b[A', 0)
  keyboard.press(' ', 0)
  expect([keyboard.bits(100), keyboard.bits(300)]).toEqual([0x11, 0x10])
  keyboard.press('q', 300)
  expect(keyboard.wantsToLeave).toBe(true)
})
