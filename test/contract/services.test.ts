/** The package of services: how the command finds it, what is in it, and its HTTP server. */

import { build } from 'esbuild'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { SERVICES } from '../../packages/services/src/cli/run.ts'
import { createRegistry, readCounter } from '../../packages/services/src/telemetry/metrics.ts'
import { openStatus } from '../../packages/services/src/telemetry/status.ts'
import { VERSION } from '../../packages/services/src/version.ts'
import { SERVICE_SUMMARIES } from '../../packages/tickwire/src/cli/services.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { bundlePrograms } from '../bundle-programs.ts'
import { endPrograms, Program } from './program.ts'

afterAll(endPrograms)

test('[SERV2] the command knows every service by its name and summary', () => {
  expect(Object.fromEntries(SERVICE_SUMMARIES))
    .toEqual(Object.fromEntries([...SERVICES].map(([name, { summary }]) => [name, summary])))
})

test('[SERV2] the command finds the services; where they are not installed it says how to install them', async () => {
  const source = new Program(pathToFileURL(join(ROOT, 'packages/tickwire/src/cli/index.ts')), ['relay', '--help'])
  await source.says(/tickwire relay \[options\][^]*--issuer FILE/)
  expect(await source.ended).toBe(0)
  // A folder with the packages of the engine, and nothing else.
  const bundle = await bundlePrograms({ tickwire: 'packages/tickwire/src/cli/index.ts' })
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-alone-'))
  cpSync(bundle.folder, folder, { recursive: true })
  bundle.remove()
  mkdirSync(join(folder, 'node_modules'))
  for (const name of ['@noble', 'ws']) symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  const alone = new Program(pathToFileURL(join(folder, 'tickwire.mjs')), ['rendezvous'])
  await alone.says(/tickwire rendezvous: @tickwire\/services is not installed\. Fix: npm install @tickwire\/services/)
  expect(await alone.ended).toBe(2)
  rmSync(folder, { recursive: true, force: true })
})

test('[SERV3] no file of world, game or replication is in the bundle of the services', async () => {
  const { metafile } = await build({
    absWorkingDir: ROOT, entryPoints: ['packages/services/src/cli/index.ts'], bundle: true, write: false,
    metafile: true, format: 'esm', platform: 'node', conditions: ['tickwire-source'], logLevel: 'warning',
    treeShaking: true, outfile: 'services.mjs', packages: 'bundle',
    external: ['fastify', '@fastify/*', 'prom-client', 'ioredis', 'ws', 'typebox', 'ajv-formats', '@noble/*',
      'sodium-native', '@matrixai/*', 'node-datachannel', 'werift',
      // Loaded only with the option --replays: a recorder contains the code of world images.
      '*/match-replays.ts'],
  })
  const [output] = Object.values(metafile.outputs)
  const inside = Object.entries(output!.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  const paths = inside.map(([path]) => path)
  expect(paths.some((path) => path.includes('core/nat/packet-relay.ts'))).toBe(true)
  const forbidden = /packages\/tickwire\/src\/core\/(world|game|replication|predict|interpolate|rewind|lockstep)\//
  expect(paths.filter((path) => forbidden.test(path))).toEqual([])
})

test('[SERV4] the operator port answers this machine by its own name, with the metrics of prom-client', async () => {
  const registry = createRegistry('test', VERSION)
  readCounter(registry, { name: 'things_total', help: 'Things.', read: () => ({ good: 3, bad: 1 }) })
  let isReady = true
  const status = await openStatus(0, { registry, isReady: () => isReady })
  expect(await (await fetch(`${status.url}/healthz`)).text()).toBe('ok\n')
  expect((await fetch(`${status.url}/readyz`)).status).toBe(200)
  isReady = false
  expect((await fetch(`${status.url}/readyz`)).status).toBe(503)
  const metrics = await (await fetch(`${status.url}/metrics`)).text()
  expect(metrics).toContain('things_total{what="good"} 3')
  expect(await (await fetch(`${status.url}/metrics`)).text()).toContain('things_total{what="bad"} 1')
  expect(metrics).toContain(`tickwire_build_info{service="test",version="${VERSION}"} 1`)
  const missing = await fetch(`${status.url}/nothing`)
  expect([missing.status, await missing.json()]).toEqual([
    404, { error: { code: 'not-found', message: 'No such path.', fix: 'See /openapi.json.' } },
  ])
  expect(await ask(new URL(status.url).port, 'attacker.example')).toMatch(/^HTTP\/1\.1 421 /)
  await status.close()
})

test('the version is that of the package', () => {
  expect(JSON.parse(readFileSync(join(ROOT, 'packages/services/package.json'), 'utf8')).version).toBe(VERSION)
})

/** A request with a Host header that fetch would not send. */
async function ask(port: string, host: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () =>
      socket.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`))
    let said = ''
    socket.on('data', (chunk) => { said += String(chunk) })
    socket.on('end', () => resolve(said))
    socket.on('error', reject)
  })
}
