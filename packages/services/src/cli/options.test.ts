import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type OptionTable, readDuration, readOptions } from './options.ts'
import { SERVICES } from './run.ts'

const table = {
  port: { kind: 'whole', default: 8080, help: 'port' },
  'max-games': { kind: 'whole', default: 100, help: 'games' },
  drain: { kind: 'duration', default: '10s', help: 'drain' },
  origin: { kind: 'list', help: 'origins' },
  ranked: { kind: 'flag', help: 'ranked' },
  region: { kind: 'text', help: 'region' },
} as const satisfies OptionTable

const file = join(mkdtempSync(join(tmpdir(), 'tickwire-options-')), 'config.json')
writeFileSync(file, JSON.stringify({ port: 1, 'max-games': 1, drain: '2min', origin: ['a', 'b'], ranked: true }))

test('[SERV1] a flag wins over the environment, the environment over the file, the file over the default', () => {
  expect(readOptions(table, { args: [], env: {} })).toEqual({
    port: 8080, 'max-games': 100, drain: 10_000, origin: [], ranked: false, region: undefined,
  })
  const env = { MAX_GAMES: '2', PORT: '2', ORIGIN: 'c, d' }
  expect(readOptions(table, { args: ['--config', file, '--port', '3'], env })).toEqual({
    port: 3, 'max-games': 2, drain: 120_000, origin: ['c', 'd'], ranked: true, region: undefined,
  })
  expect(readOptions(table, { args: ['--origin=x', '--origin', 'y', '--ranked=false'], env: { CONFIG: file } }))
    .toMatchObject({ origin: ['x', 'y'], ranked: false, port: 1 })
  const empty = { PORT: '', REGION: '', ORIGIN: '', CONFIG: '' }
  expect(readOptions(table, { args: [], env: empty })).toEqual(readOptions(table, { args: [], env: {} }))
})

test('[SERV1] an unknown or invalid option is refused, with the nearest name', () => {
  const bad = join(mkdtempSync(join(tmpdir(), 'tickwire-options-')), 'bad.json')
  writeFileSync(bad, '{"maxgames":1}')
  for (const [args, expected] of [
    [['--maxgames', '1'], /--maxgames: unknown option\. Did you mean --max-games\?/],
    [['--prot', '1'], /Did you mean --port\?/],
    [['--zzzzzzzz', '1'], /--zzzzzzzz: unknown option\. Fix: see --help/],
    [['--config', bad], /bad\.json: maxgames: unknown option\. Did you mean --max-games\?/],
    [['--config', join(bad, 'none')], /--config: .*Fix: give a JSON file/],
    [['--port'], /--port: has no value/],
    [['--port', '-1'], /--port -1: not a number/],
    [['--drain', 'soon'], /--drain soon: not a duration/],
    [['port'], /"port": not an option/],
    [['--__proto__', '1'], /unknown option/],
  ] as const) expect(() => readOptions(table, { args, env: {} })).toThrow(expected)
  expect(() => readOptions(table, { args: [], env: { MAX_GAMES: 'many' } })).toThrow(/MAX_GAMES many: not a number/)
})

test('[SERV1] durations have units; a plain number is seconds', () => {
  expect(['500ms', '30s', '30', '1.5min', '2h', '', '3d', '-1s'].map(readDuration))
    .toEqual([500, 30_000, 30_000, 90_000, 7_200_000, undefined, undefined, undefined])
})

test('[SERV1] a service without options has the ports and limits that the guides name', () => {
  const defaultsOf = (name: string): unknown => readOptions(SERVICES.get(name)!.options, { args: [], env: {} })
  expect(defaultsOf('relay')).toMatchObject({ port: 7777, ops: 9091 })
  expect(defaultsOf('stun')).toMatchObject({ port: 3478 })
  expect(defaultsOf('lockstep')).toMatchObject({ port: 9090, ops: 9091, 'max-games': 100 })
  expect(defaultsOf('track')).toMatchObject({
    port: 8080, ops: 9091, 'heartbeat-ttl': 30_000, 'rate-limit': '10/min', store: undefined,
  })
  expect(defaultsOf('rendezvous')).toMatchObject({ port: 8080, 'code-ttl': 600_000 })
  expect(defaultsOf('issue')).toMatchObject({ port: 8081 })
})
