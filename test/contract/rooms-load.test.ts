import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bool, defineGame, entity, fixed, i16, int, message, oneOf, packed, rpc, text, u8, type Game } from 'tickwire'
import { serve, serveRooms, systemEntropy, type ServingRooms } from 'tickwire/node'
import { readWeather } from '../../packages/tickwire/src/cli/load.ts'
import { startTickwire } from '../../packages/tickwire/src/cli/run.ts'
import { gameOfText } from '../../packages/tickwire/src/node/load-game.ts'
import type { LoadReport } from '../../packages/tickwire/src/node/load.ts'
import { RandomInput } from '../../packages/tickwire/src/node/load-input.ts'
import { game } from '../../docs/guide/examples/rooms/game.ts'
import { game as arenaGame } from '../../games/arena/game.ts'
import { game as helloGame } from '../../games/hello/game.ts'

let serving: ServingRooms

beforeAll(async () => {
  serving = await serveRooms(
    { melee: { game, capacity: 4 } },
    { port: 0, webtransport: false, webrtc: false, log: () => {} },
  )
})
afterAll(() => serving.close())

async function tickwire(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' }
  const code = await startTickwire(args, {
    print: (line) => {
      said.out += `${line}\n`
    },
    complain: (line) => {
      said.err += `${line}\n`
    },
    nowSeconds: () => 0,
    entropy: systemEntropy,
  })
  return { code, ...said }
}

describe('tickwire load', () => {
  test('[LOAD1] players join a server, play in weather, and latency and server load are reported', async () => {
    const { code, out, err } = await tickwire(
      'load',
      serving.url,
      '--players',
      '6',
      '--seconds',
      '6',
      '--weather',
      '20ms,5ms,10%',
      '--ops',
      serving.opsUrl!,
      '--json',
      '--seed',
      '7',
    )
    expect([code, err.includes('6 of 6 play')]).toEqual([0, true])
    const report = JSON.parse(out) as LoadReport
    expect(report).toMatchObject({ asked: 6, joined: 6, stayed: 6, ended: {}, server: { players: 6, rooms: 2 } })
    expect(report.rttMs.p50).toBeGreaterThan(38)
    expect(report.loss).toBeGreaterThan(0.01)
    expect(report.inputs).toBeGreaterThan(200)
    expect(report.correctionsPerMinute).toBeUndefined()
  }, 60_000)

  test("[LOAD1] with the game's code, over WebSocket, as text; clients without a seat are counted", async () => {
    const { id } = serving.create('melee')
    const { code, out } = await tickwire(
      'load',
      serving.url,
      '--players',
      '5',
      '--seconds',
      '5',
      '--transport',
      'websocket',
      '--room',
      id,
      '--game',
      'docs/guide/examples/rooms/game.ts',
    )
    expect([code, out]).toEqual([1, expect.stringContaining('5 requested, 4 joined, 4 stayed (1 full)')])
    expect(out).toMatch(/corrections +[\d.]+ a minute and player/)
  }, 60_000)

  test.each<[name: string, game: Game]>([
    ['hello', helloGame as unknown as Game],
    ['the arena, which is sent every tick and shares its balls', arenaGame as unknown as Game],
  ])(
    '[LOAD1] a server is driven by its address alone: %s',
    async (_name, served) => {
      const house = await serve(served, { port: 0, webtransport: false, webrtc: false, signals: false, log: () => {} })
      try {
        const { code, out } = await tickwire(
          'load',
          house.url,
          '--players',
          '4',
          '--seconds',
          '5',
          '--weather',
          '30ms,5ms,2%',
        )
        expect([code, out]).toEqual([0, expect.stringContaining('4 requested, 4 joined, 4 stayed')])
      } finally {
        await house.close()
      }
    },
    60_000,
  )

  test('[LOAD2] invalid arguments are reported in a sentence, exit code 2', async () => {
    for (const [args, sentence] of [
      [[], 'Give one URL'],
      [['nowhere'], 'nowhere is not the URL of a server'],
      [['http://127.0.0.1:1'], 'http://127.0.0.1:1: no game is served there'],
      [['http://127.0.0.1:1'], 'start the server first, or give another URL.'],
      // Options are checked before a request to the server.
      [['http://127.0.0.1:1', '--players', '-1'], '--players'],
      [['http://127.0.0.1:1', '--seconds', '0x10'], '--seconds 0x10: expected an integer from 1 on.'],
      [[serving.url, '--game', 'tools/layers.ts'], '--game tools/layers.ts exports no `game`.'],
      [[serving.url, '--weather', 'rain'], '--weather: cannot read "rain". Fix: write it as 100ms,20ms,5%.'],
      [[serving.url, '--players', '0'], '--players 0: expected an integer from 1 on.'],
      [[serving.url, '--transport', 'pigeon'], 'use udp or websocket'],
      [[serving.url, '--type', 'poker'], 'There is no such type of room.'],
      [[serving.url, '--game', 'nowhere.ts'], '--game nowhere.ts cannot be imported'],
    ] as const) {
      const { code, err } = await tickwire('load', ...args)
      expect([code, err], err).toEqual([2, expect.stringContaining(sentence)])
    }
    expect((await tickwire('--help')).out).toContain('tickwire load')
    expect((await tickwire('load', '--help')).out).toContain('--weather W')
    expect(readWeather('100ms,20ms,5%')).toEqual({ latencyMs: 100, jitterMs: 20, loss: 0.05 })
  }, 60_000)

  test('[LOAD3] a game built from its text is the same to the server; where code is needed it says so', () => {
    const Chat = message({ text: text(40) }, 'chat', { delivery: 'unreliable' })
    const rich = defineGame({
      tickRate: 20,
      input: { on: bool, aim: fixed(-3, 3, 0.1), count: int(2, 9), pick: oneOf('a', 'b', 'c'), word: i16 },
      entities: [entity({ x: u8 })],
      messages: [Chat],
      step: () => {},
    })
    const copy = gameOfText(rich.text) as Game
    expect([copy.fingerprint, copy.predict, copy.messages[0]!.delivery]).toEqual([
      rich.fingerprint,
      'none',
      'unreliable',
    ])
    const fromText = gameOfText(
      defineGame({
        ...rich,
        codec: packed,
        net: { snapshotRate: 10 },
        entities: [entity({ x: u8 }, { authority: 'shared' })],
      }).text,
    ) as Game
    expect([fromText.codec.name, fromText.snapshotTicks, fromText.entities[0]!.isShared, fromText.predict]).toEqual([
      'packed',
      2,
      true,
      'none',
    ])
    expect(gameOfText(rich.text.replace('entropy(2)', 'entropy(2;"P":0011)'))).toContain(
      'tables that were trained for it',
    )
    expect(gameOfText(defineGame({ ...rich, rpcs: [rpc({ a: u8 }, { to: 'server' })] }).text)).toContain('remote calls')
    expect(gameOfText(defineGame({ ...rich, predict: 'all' }).text)).toContain('needs its code')
    const input = new RandomInput(rich.inputSchema, 3)
    const seen = { on: new Set<unknown>(), pick: new Set<unknown>() }
    for (let tick = 0; tick < 2000; tick++) {
      const held = input.next() as { on: boolean; aim: number; count: number; pick: string }
      seen.on.add(held.on)
      seen.pick.add(held.pick)
      expect(
        held.aim >= -3 && held.aim <= 3 && held.count >= 2 && held.count <= 9 && Number.isInteger(held.count),
      ).toBe(true)
    }
    expect([[...seen.on].toSorted(), [...seen.pick].toSorted()]).toEqual([[false, true], ['a', 'b', 'c']])
  })
})
