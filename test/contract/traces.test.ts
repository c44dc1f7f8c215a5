/** Traces from the click of a player to the first tick, with real processes and a real receiver of OTLP. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { relay, type LockstepRoom } from 'tickwire/lockstep'
import { browse, connect, serveLockstep } from 'tickwire/node'
import { openTraces, serveTracker } from '../../packages/services/src/index.ts'
import { bundlePrograms, type ProgramBundle } from '../bundle-programs.ts'
import { OwnTracer } from '../../docs/guide/examples/own-tracer.ts'
import { game as guideGame } from '../../docs/guide/examples/first-game/game.ts'
import { game as lockstepGame } from '../sim/lockstep-game.ts'
import { OtlpReceiver, type ReceivedSpan } from './otlp-receiver.ts'
import { endPrograms, Program } from './program.ts'

const NAMES = ['ENDPOINT', 'PROTOCOL'].map((name) => `OTEL_EXPORTER_OTLP_${name}`)
const trace = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${trace}-b7ad6b7169203331-01`
let receiver: OtlpReceiver
let programs: ProgramBundle

/** A bundled program, with these arguments. */
function run(name: 'services' | 'traced' | 'alone', ...args: string[]): Program {
  return new Program(pathToFileURL(join(programs.folder, `${name}.mjs`)), args)
}

beforeAll(async () => {
  programs = await bundlePrograms({
    services: 'packages/services/src/cli/index.ts', traced: 'test/contract/traced-process.ts',
    alone: 'test/contract/traces-alone-process.ts',
  })
  receiver = await OtlpReceiver.open()
  Object.assign(process.env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_BSP_SCHEDULE_DELAY: '100',
  })
})

afterAll(async () => {
  await endPrograms()
  receiver.close()
  programs.remove()
  for (const name of [...NAMES, 'OTEL_BSP_SCHEDULE_DELAY']) delete process.env[name]
})

/** Waits until the receiver has the root and these spans of a trace, and checks that all are one tree. */
async function treeOf(id: string, names: readonly string[]): Promise<ReceivedSpan[]> {
  await expect.poll(() => receiver.of(id).map(({ service, name }) => `${service}: ${name}`), { timeout: 15_000 })
    .toEqual(expect.arrayContaining(['player: click on Join', ...names]))
  const spans = receiver.of(id)
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined || !ids.has(parentSpanId))
  expect(roots.map(({ name }) => name)).toEqual(['click on Join'])
  return spans
}

const idOf = (parent: string | undefined): string => parent?.split('-', 2)[1] ?? ''

test('[TRACE1, TRACE2] a join by code is one trace: player, rendezvous, host', async () => {
  const all = run(
    'services', 'all', '--port', '0', '--relay-port', '0', '--ops', '0', '--address', '127.0.0.1',
    '--public', '127.0.0.1',
  )
  const [, url = ''] = await all.says(/codes: (\S+)/)
  const host = run('traced', 'host', url)
  const [, code = ''] = await host.says(/code (\S+)/)
  const player = run('traced', 'player', url, code)
  const id = idOf((await player.says(/playing (\S+)/))[1])
  expect(await player.ended).toBe(0)
  const spans = await treeOf(id, [
    'player: tickwire.join', 'player: tickwire.open', 'player: tickwire.handshake', 'player: tickwire.first-state',
    'all: POST /v1/joins', 'all: tickwire.signal', 'host: tickwire.seat', 'host: tickwire.first-tick',
  ])
  const of = (name: string): ReceivedSpan => spans.find((span) => span.name === name)!
  expect(of('POST /v1/joins').parentSpanId).toBe(of('tickwire.open').spanId)
  expect(of('tickwire.seat').parentSpanId).toBe(of('tickwire.handshake').spanId)
  expect(of('tickwire.join').facts).toMatchObject({ transport: 'udp' })
  expect(of('POST /v1/joins').facts).toMatchObject({ 'http.response.status_code': 200 })
  // One machine, one clock, which each span reads to a millisecond: the seat is taken before the player sees the state.
  expect(of('tickwire.seat').to).toBeLessThanOrEqual(of('tickwire.first-state').to + 5_000_000n)
  expect(of('tickwire.join').from).toBeLessThanOrEqual(of('tickwire.open').from + 5_000_000n)
  // The log of the host has the same id.
  await host.says(new RegExp(`"event":"traced".*"step":"tickwire.seat".*"trace":"${id}"`))
  await host.says(new RegExp(`"step":"tickwire.first-tick".*"trace":"${id}"`))
  expect(receiver.bodies.map(String).join(' ')).not.toMatch(/127\.0\.0\.1|localhost|[0-9a-f]*::1/)
  expect(receiver.bodies.map(String).join(' ')).not.toContain(code)
})

test('[TRACE1] a join in a fleet is one trace: player, fleet service, game server', async () => {
  const fleet = run('services', 'fleet', '--port', '0', '--ops', '0', '--address', '127.0.0.1')
  const [, url = ''] = await fleet.says(/fleet: (\S+)/)
  const server = run('traced', 'server', url)
  await server.says(/ready/)
  const player = run('traced', 'player', url)
  const id = idOf((await player.says(/playing (\S+)/))[1])
  const spans = await treeOf(id, [
    'player: tickwire.join', 'player: tickwire.first-state', 'fleet: POST /rooms/quick', 'server: tickwire.reserve',
    'server: tickwire.seat', 'server: tickwire.first-tick',
  ])
  const of = (name: string): ReceivedSpan => spans.find((span) => span.name === name)!
  expect(of('tickwire.reserve').parentSpanId).toBe(of('POST /rooms/quick').spanId)
  expect(of('tickwire.reserve').facts['room']).toBe(of('tickwire.seat').facts['room'])
  await server.says(new RegExp(`"step":"tickwire.reserve".*"trace":"${id}"`))
})

test('[TRACE1, TRACE3] any tracer will do: a lockstep match, to the first tick that is played', async () => {
  const [player, server] = [new OwnTracer(), new OwnTracer()]
  const serving = await serveLockstep({ match: { game: lockstepGame } }, {
    port: 0, address: '127.0.0.1', signals: false, log: () => {}, webrtc: false, webtransport: false, udp: false,
    tracer: server,
  })
  const place = relay(serving.url)
  const room = await connect(lockstepGame, place, { tracer: player, traceparent }) as unknown as LockstepRoom
  await expect.poll(() => player.steps.map(([step]) => step)).toEqual([
    'tickwire.open', 'tickwire.handshake', 'tickwire.first-state', 'tickwire.join',
  ])
  const [name, parent, , facts] = player.steps.at(-1)!
  expect([name, parent, facts]).toEqual(['tickwire.join', traceparent, { transport: 'websocket', path: 'direct' }])
  await expect.poll(() => server.steps.map(([step]) => step)).toEqual(['tickwire.seat', 'tickwire.first-tick'])
  // Both are part of the player's handshake, which is in the same trace and is not the click.
  const parents = new Set(server.steps.map(([, of]) => of))
  expect([...parents]).toEqual([expect.stringMatching(new RegExp(`^00-${trace}-(?!b7ad6b7169203331)`))])
  room.leave()
  await serving.close()
})

test('[TRACE1] a join that fails ends its spans with the reason', async () => {
  const tracer = new OwnTracer()
  await expect(connect(lockstepGame, relay('http://127.0.0.1:9/'), { tracer, retryMs: 0 })).rejects.toThrow()
  expect(tracer.steps.map(([name, , , facts]) => [name, facts])).toEqual([
    ['tickwire.open', { failed: 'unreachable' }], ['tickwire.join', { failed: 'unreachable' }],
  ])
})

test('[TRACE1, TRACE4] a list is part of the trace; requests without a span are not traced', async () => {
  const traces = (openTraces({ service: 'track' }))!
  const tracker = await serveTracker({ port: 0, address: '127.0.0.1', tracer: traces.tracer })
  const trackers = [`http://127.0.0.1:${tracker.port}`]
  await browse({ trackers })
  await browse({ trackers, traceparent })
  await tracker.close()
  await traces.close()
  const spans = receiver.spans.filter(({ service }) => service === 'track')
  expect(spans.map(({ name, traceId, parentSpanId }) => [name, traceId, parentSpanId]))
    .toEqual([['GET /v1/listings', trace, 'b7ad6b7169203331']])
})

test('[TRACE4] without an address for traces nothing is loaded, and nothing is sent', async () => {
  const url = process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
  const off = run('alone')
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = url
  await off.says(/\{"isOn":false,"loaded":0\}/)
})

test('[TRACE4] the address is an option too, and the encoding is protobuf by default', async () => {
  delete process.env['OTEL_EXPORTER_OTLP_PROTOCOL']
  const alone = run('alone', receiver.url, traceparent)
  process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] = 'http/json'
  expect(await alone.ended, alone.said).toBe(0)
  expect([...receiver.types]).toContain('application/x-protobuf')
  expect(receiver.bodies.some((body) => body.includes(Buffer.from(trace, 'hex')))).toBe(true)
})

test('[TRACE4] a service that ends sends the spans that wait; the program of the guide sends its own', async () => {
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '600000'
  const tracker = run('services', 'track', '--port', '0', '--ops', '0', '--address', '127.0.0.1', '--drain', '0s')
  const [, port = ''] = await tracker.says(/localhost:(\d+)/)
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '100'
  const ended = `00-${'ab'.repeat(16)}-b7ad6b7169203331-01`
  await browse({ trackers: [`http://127.0.0.1:${port}`], traceparent: ended })
  expect(receiver.of('ab'.repeat(16))).toEqual([])
  tracker.child.kill('SIGTERM')
  expect(await tracker.ended).toBe(0)
  expect(receiver.of('ab'.repeat(16)).map(({ name }) => name)).toEqual(['GET /v1/listings'])
  const guide = new Program(new URL('../../docs/guide/examples/traces.ts', import.meta.url), [])
  const [, url = ''] = await guide.says(/serving (\S+)/)
  const room = await connect(guideGame, url, { tracer: new OwnTracer(), traceparent, development: false })
  await expect.poll(() => receiver.spans.filter(({ service }) => service === 'my-game').map(({ name }) => name))
    .toEqual(['tickwire.seat', 'tickwire.first-tick'])
  room.leave()
})
