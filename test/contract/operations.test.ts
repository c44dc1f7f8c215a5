/** The files of deploy/: units, rules of alerts and dashboards, checked by the programs that read them. */

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { serveAll } from '../../packages/services/src/all/serve-all.ts'
import { envName } from '../../packages/services/src/cli/options.ts'
import { SERVICES } from '../../packages/services/src/cli/run.ts'
import { serveFleet } from '../../packages/services/src/fleet/serve-fleet.ts'
import { openLeases, openRecords } from '../../packages/services/src/store/open-store.ts'
import { createRegistry } from '../../packages/services/src/telemetry/metrics.ts'
import { openStatus } from '../../packages/services/src/telemetry/status.ts'
import { DASHBOARDS, dashboardFile, dashboardText } from '../../tools/gen-dashboards.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { mustRun, runTool } from './debian-tool.ts'
import { ask } from './tracker-stage.ts'

const SYSTEMD = join(ROOT, 'deploy/systemd')
const PROMETHEUS = join(ROOT, 'deploy/prometheus')
/** What systemd-analyze calls "OK" is below 5; a unit without any hardening has 9.6. */
const EXPOSURE_MAX = 2.5

const root = mkdtempSync(join(tmpdir(), 'tickwire-units-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const units = readdirSync(SYSTEMD).filter((name) => name.endsWith('.service'))

test.runIf(mustRun('systemd-analyze'))('[DEPLOY1] systemd accepts every unit, and finds little to attack', () => {
  const installed = join(root, 'etc/systemd/system')
  cpSync(SYSTEMD, installed, { recursive: true })
  cpSync('/usr/lib/systemd/system', join(root, 'usr/lib/systemd/system'), { recursive: true })
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true })
  cpSync('/bin/true', join(root, 'usr/local/bin/tickwire'))
  const verify = (): string =>
    runTool('systemd-analyze', [`--root=${root}`, '--man=no', '--recursive-errors=no', 'verify', ...units]).text
  expect(verify()).toBe('')
  for (const unit of units) {
    const { text } = runTool('systemd-analyze', ['security', '--offline=yes', `--root=${root}`, '--no-pager', unit])
    expect(Number(/exposure level for \S+: ([\d.]+)/.exec(text)?.[1]), text).toBeLessThanOrEqual(EXPOSURE_MAX)
  }
  const shared = join(installed, 'tickwire-.service.d/10-hardening.conf')
  expect(readFileSync(shared, 'utf8')).toContain('\nLimitCORE=0\n')
  // The check finds a mistake in what the units share.
  writeFileSync(shared, readFileSync(shared, 'utf8').replace('RemoveIPC=', 'RemoveIpc='))
  expect(verify()).toContain("Unknown key 'RemoveIpc'")
})

test('[DEPLOY1] a unit starts a service that exists, and sets options that it has', () => {
  expect(units).toEqual([
    'tickwire-all.service', 'tickwire-fleet.service', 'tickwire-relay.service', 'tickwire-track.service',
  ])
  for (const unit of units) {
    const text = readFileSync(join(SYSTEMD, unit), 'utf8')
    const name = /ExecStart=\S+\/tickwire (\w+)$/m.exec(text)?.[1] ?? ''
    expect(unit).toBe(`tickwire-${name}.service`)
    const options = Object.keys(SERVICES.get(name)?.options ?? {}).map(envName)
    for (const [, variable] of text.matchAll(/^Environment=(\w+)=/gm)) expect(options).toContain(variable)
  }
})

test.runIf(mustRun('promtool'))('[DEPLOY2] promtool accepts configuration and alerts, and their tests pass', () => {
  for (const args of [
    ['check', 'config', 'prometheus.yml'], ['check', 'rules', 'rules.yaml'], ['test', 'rules', 'rules.test.yaml'],
  ]) {
    const { isRight, text } = runTool('promtool', args, undefined, PROMETHEUS)
    expect(isRight, text).toBe(true)
  }
  const [rules, tests] = ['rules.yaml', 'rules.test.yaml'].map((name) => readFileSync(join(PROMETHEUS, name), 'utf8'))
  const fire = [...tests!.matchAll(/alertname: (\w+)\n *exp_alerts:\n *- exp_labels/g)].map(([, name]) => name)
  for (const [, name] of rules!.matchAll(/- alert: (\w+)/g)) expect(fire).toContain(name)
})

test('[DEPLOY2] [DEPLOY3] every metric of dashboards and alerts exists', async () => {
  const scraped = await scrape()
  const metrics = scraped.join('')
  const known = new Set([...metrics.matchAll(/^([a-z_]+)(?:\{| )/gm)].map(([, name]) => name))
  const rules = readFileSync(join(PROMETHEUS, 'rules.yaml'), 'utf8')
  const queries = Object.entries(DASHBOARDS).flatMap(([name, panels]) => {
    expect(readFileSync(dashboardFile(name), 'utf8')).toBe(dashboardText(name))
    return panels.map(({ expr }) => expr)
  })
  const used = [rules, ...queries].join('\n').match(/\b(?:tickwire|process)_[a-z_]+\b/g) ?? []
  expect([...new Set(used)].filter((name) => !known.has(name))).toEqual([])
  // The labels too: what="full" must be a counter that exists.
  for (const [, label, values = ''] of [rules, ...queries].join('\n').matchAll(/\{(\w+)=~?"([^"]+)"/g)) {
    const wanted = label === 'job' ? [] : values.split('|')
    for (const value of wanted) expect(metrics).toMatch(new RegExp(`[{,]${label}="${value}"[,}]`))
  }
  if (!mustRun('promtool')) return
  for (const each of scraped) {
    const { isRight, text } = runTool('promtool', ['check', 'metrics'], each)
    expect(isRight, text).toBe(true)
  }
  const recorded = queries.map((expr, at) => `      - { record: query:number${at}, expr: ${JSON.stringify(expr)} }\n`)
  const file = join(root, 'queries.yaml')
  writeFileSync(file, `groups:\n  - name: queries\n    rules:\n${recorded.join('')}`)
  const checked = runTool('promtool', ['check', 'rules', file])
  expect(checked.isRight, checked.text).toBe(true)
})

test('[DEPLOY4] no metric has an address', async () => {
  const metrics = (await scrape()).join('')
  expect(metrics.match(/\b\d+\.\d+\.\d+\.\d+\b|::1|\b[0-9a-f]+:[0-9a-f]+:/g) ?? []).toEqual([])
})

/** The metrics of each process, as Prometheus reads them. */
async function scrape(): Promise<string[]> {
  const all = await serveAll({ port: 0, relayPort: 0, address: '127.0.0.1', publicAddress: '127.0.0.1' })
  const stores = createRegistry('stores', '0')
  const leases = await openLeases(undefined, stores)
  const records = await openRecords(undefined, { registry: stores })
  const fleet = await serveFleet({ port: 0, leases, records })
  await leases.get('server', 'AAAAAAAA')
  // A code whose host is away gives a status of 5xx.
  const facts = { fingerprint: '0'.repeat(16), identity: '0'.repeat(64), capacity: 1 }
  const { code } = (await ask('POST', `${all.url}v1/sessions`, facts)).body
  expect((await ask('POST', `${all.url}v1/joins`, { code })).status).toBe(503)
  const texts: string[] = []
  for (const registry of [all.registry, fleet.registry, stores]) {
    const status = await openStatus(0, { registry, isReady: () => true })
    texts.push(await (await fetch(`${status.url}/metrics`)).text())
    await status.close()
  }
  await Promise.all([all.close(), fleet.close(), records.close(), leases.close()])
  return texts
}
