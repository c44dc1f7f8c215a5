/** Development mode of a served game: warnings in the log, and none in production. */

import { afterEach, expect, test, vi } from 'vitest'
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'
import { defineGame, entity, fixed } from 'tickwire'
import { connect, serve, serveRooms, type ServeLogEntry } from 'tickwire/node'

const Ship = entity({ x: fixed(0, 100, 0.1) }, { name: 'Ship' })
const game = defineGame({
  tickRate: 60,
  input: {},
  entities: [Ship],
  step(world) {
    if (world.tick === 1) world.spawn(Ship, { x: 1 })
    for (const ship of world.each(Ship)) ship.x = NaN
  },
})

const quiet = { port: 0, webtransport: false, webrtc: false, udp: false, ops: false, signals: false } as const

afterEach(() => vi.unstubAllEnvs())

/** The warnings of a served match, which runs for a few ticks. */
async function warningsOf(options: { development?: boolean }): Promise<ServeLogEntry[]> {
  const entries: ServeLogEntry[] = []
  const serving = await serve(game, { ...quiet, ...options, log: (entry) => entries.push(entry) })
  while (serving.host.world.tick < 5) await new Promise((resolve) => setTimeout(resolve, 10))
  await serving.close()
  return entries.filter(({ event }) => event === 'step-warning')
}

test('[CHECK3] serve logs each mistake once, unless NODE_ENV is production', async () => {
  const warnings = await warningsOf({})
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toMatchObject({ level: 'warn', facts: { kind: 'nan', field: 'Ship.x', entity: 'Ship' } })
  expect(warnings[0]!.message).toContain('Fix: ')
  expect(await warningsOf({ development: false })).toEqual([])
  vi.stubEnv('NODE_ENV', 'production')
  expect(await warningsOf({})).toEqual([])
  expect(await warningsOf({ development: true })).toHaveLength(1)
})

test('[CHECK3] a client in Node warns of what it predicts, unless NODE_ENV is production', async () => {
  const owned = defineGame({
    tickRate: 60,
    input: {},
    entities: [Ship],
    onJoin: (world, peer) => world.spawn(Ship, { x: 1 }, peer),
    step(world) {
      for (const ship of world.each(Ship)) ship.x = NaN
    },
  })
  const serving = await serve(owned, { ...quiet, development: false, log: () => {} })
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const warningsFor = async (options: { development?: boolean }): Promise<unknown[]> => {
    warn.mockClear()
    const room = await connect(owned, serving.url, options)
    room.play({ input: () => ({}) })
    for (let tries = 0; tries < 500 && room.tools.host.predictor?.isRunning !== true; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10))
    await new Promise((resolve) => setTimeout(resolve, 200))
    room.leave()
    return warn.mock.calls.flat()
  }
  expect(await warningsFor({})).toEqual([expect.stringMatching(/^Ship\.x: NaN.*Fix: /)])
  expect(await warningsFor({ development: false })).toEqual([])
  vi.stubEnv('NODE_ENV', 'production')
  expect(await warningsFor({})).toEqual([])
  warn.mockRestore()
  await serving.close()
})

test('[CHECK3] a room type may have its own listener', async () => {
  const fields: string[] = []
  const serving = await serveRooms({ duel: { game, onWarning: ({ field }) => fields.push(field) } }, quiet)
  const room = serving.create('duel')
  while (room.world.tick < 5) await new Promise((resolve) => setTimeout(resolve, 10))
  await serving.close()
  expect(fields).toEqual(['Ship.x'])
})

test('[CHECK3] a page that is built for production contains no checks', async () => {
  const filesOf = async (minify: boolean): Promise<string[]> => {
    const { metafile } = await build({
      stdin: {
        contents: "import { connect } from 'tickwire/browser'\nconsole.log(connect)",
        resolveDir: fileURLToPath(new URL('.', import.meta.url)),
      },
      bundle: true, minify, format: 'esm', write: false, metafile: true, conditions: ['tickwire-source'],
    })
    return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs))
  }
  const isChecks = (path: string): boolean => path.endsWith('/step-checks.ts')
  expect((await filesOf(true)).some(isChecks)).toBe(false)
  expect((await filesOf(false)).some(isChecks)).toBe(true)
})
