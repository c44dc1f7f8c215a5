/**
 * `tickwire conformance` finds each mistake of a foreign server by the check of the rule that it breaks. The servers
 * are our own, with one mistake each (`foreign-faults.ts`), on real UDP.
 */

import { rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { systemEntropy } from 'tickwire/node'
import { afterAll, expect, test, vi } from 'vitest'
import { ALL_CHECKS, conformance } from '../../packages/tickwire/src/cli/conformance.ts'
import { bundleSwarm, type SourcePatch } from '../../tools/sim-bundle.ts'
import { form } from '../form.ts'
import { LOCKSTEP_FAULTS, RELAY_FAULTS, SERVER_FAULTS, type ForeignFault } from './foreign-faults.ts'
import type { ForeignServer } from './foreign-servers.ts'

type Servers = typeof import('./foreign-servers.ts')

interface Line {
  readonly id: string
  readonly outcome: string
  readonly seen: string
}

const PATIENCE = ['--patience', '800', '--json']
const servers: ForeignServer[] = []
const bundles: string[] = []
// Bundling takes a second on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

afterAll(() => {
  for (const server of servers) server.close()
  for (const path of bundles) rmSync(path, { force: true })
})

/** Opens a server with some lines changed. */
async function open(kind: keyof Servers, name: string, patches: readonly SourcePatch[]): Promise<readonly string[]> {
  const path = await bundleSwarm('../contract/foreign-servers.ts', `foreign-${name}-${process.pid}`, patches)
  bundles.push(path)
  const foreign: Servers = await import(/* @vite-ignore */ pathToFileURL(path).href)
  const server = await foreign[kind]()
  servers.push(server)
  return server.args
}

async function check(...args: readonly string[]): Promise<readonly Line[]> {
  let printed = ''
  await conformance.run([...args, ...PATIENCE], {
    print: (line) => {
      printed = line
    },
    complain: () => {}, nowSeconds: () => 0, entropy: systemEntropy,
  })
  return (JSON.parse(printed) as { checks: readonly Line[] }).checks
}

const KINDS = [
  ['openServer', SERVER_FAULTS], ['openLockstepRelay', LOCKSTEP_FAULTS], ['openPacketRelay', RELAY_FAULTS],
] as const

const FAULTS = KINDS.flatMap(([kind, faults]) => faults.map((fault) => ({ ...fault, kind })))
/** The short form has one of four. */
const PLAYED = FAULTS.filter((_, at) => at % form(4, 1) === 0)

test('[CONF3] every check has a server that breaks its rule', () => {
  const tested: readonly ForeignFault[] = FAULTS
  expect(tested.map((fault) => fault.check).toSorted()).toEqual(ALL_CHECKS.map(({ id }) => id).toSorted())
})

test.concurrent.each(PLAYED)('[CONF3] $check finds a server that $does', async ({ kind, check: id, patches }) => {
  const [line] = await check(...await open(kind, id, patches), '--only', id)
  expect(line).toMatchObject({ id, outcome: 'broken' })
})

test.concurrent('[CONF7] our relay of lockstep matches passes its checks', async () => {
  const args = await open('openLockstepRelay', 'lockstep', [])
  const only = LOCKSTEP_FAULTS.flatMap((fault) => ['--only', fault.check])
  expect((await check(...args, ...only)).filter(({ outcome }) => outcome !== 'kept')).toEqual([])
})

test.concurrent('[CONF8] our packet relay passes its checks', async () => {
  const lines = await check(...await open('openPacketRelay', 'relay', []))
  expect(lines.filter(({ outcome }) => outcome !== 'kept')).toEqual([])
  expect(lines).toHaveLength(RELAY_FAULTS.length)
})
