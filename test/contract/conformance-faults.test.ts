/**
 * `tickwire conformance` finds each mistake of a foreign server by the check of the rule that it breaks. The servers
 * are our own, with one mistake each (`foreign-faults.ts`), on real UDP.
 */

import { rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { systemEntropy } from 'tickwire/node'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ALL_CHECKS, conformance } from '../../packages/tickwire/src/cli/conformance.ts'
import { bundleSwarm, type SourcePatch } from '../../tools/sim-bundle.ts'
import { form } from '../form.ts'
import { LOCKSTEP_FAULTS, RELAY_FAULTS, SERVER_FAULTS, type ForeignFault } from './foreign-faults.ts'
import type { ForeignServer } from './foreign-servers.ts'

type Servers = typeof import('./foreign-servers.ts')

interface Opening {
  readonly kind: keyof Servers
  readonly name: string
  readonly patches: readonly SourcePatch[]
}

interface Line {
  readonly id: string
  readonly outcome: string
  readonly seen: string
}

const PATIENCE = ['--patience', '2000', '--json']
const servers: ForeignServer[] = []
const bundles: string[] = []
// The checks mostly wait.
vi.setConfig({ testTimeout: 120_000 })

afterAll(() => {
  for (const server of servers) server.close()
  for (const path of bundles) rmSync(path, { force: true })
})

/** Opens a server with some lines changed. Returns the arguments of the command. */
async function open({ kind, name, patches }: Opening): Promise<readonly string[]> {
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

/** By the check that is to find their mistake, or by the name of our own. */
const opened = new Map<string, readonly string[]>()

// All servers are opened first: to load one keeps this process busy, and the checks wait for answers.
beforeAll(async () => {
  const own = [
    { kind: 'openLockstepRelay', name: 'lockstep', patches: [] },
    { kind: 'openPacketRelay', name: 'relay', patches: [] },
  ] as const
  for (const opening of [...own, ...PLAYED.map((fault) => ({ ...fault, name: fault.check }))])
    opened.set(opening.name, await open(opening))
}, 600_000)

test('[CONF3] every check has a server that breaks its rule', () => {
  const tested: readonly ForeignFault[] = FAULTS
  expect(tested.map((fault) => fault.check).toSorted()).toEqual(ALL_CHECKS.map(({ id }) => id).toSorted())
})

test.concurrent.each(PLAYED)('[CONF3] $check finds a server that $does', async ({ check: id }) => {
  const [line] = await check(...opened.get(id) ?? [], '--only', id)
  expect(line).toMatchObject({ id, outcome: 'broken' })
})

test.concurrent('[CONF7] our relay of lockstep matches passes its checks', async () => {
  const only = LOCKSTEP_FAULTS.flatMap((fault) => ['--only', fault.check])
  const lines = await check(...opened.get('lockstep') ?? [], ...only)
  expect(lines.filter(({ outcome }) => outcome !== 'kept')).toEqual([])
})

test.concurrent('[CONF8] our packet relay passes its checks', async () => {
  const lines = await check(...opened.get('relay') ?? [])
  expect(lines.filter(({ outcome }) => outcome !== 'kept')).toEqual([])
  expect(lines).toHaveLength(RELAY_FAULTS.length)
})
