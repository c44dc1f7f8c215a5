/** Every decoder of the packages is reached by some fuzz target. */

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'

vi.setConfig({ testTimeout: 240_000 })

/** Functions whose names begin like those of decoders, and why no target reaches them. */
const EXEMPT: { readonly [decoder: string]: string } = {
  'services/src/cli/options.ts readDuration': 'an option of the command line',
  'tickwire/src/cli/load.ts readWeather': 'an option of the command line',
  'tickwire/src/node/load-weather.ts parseWeather': 'an option of the command line',
  'tickwire/src/core/base/fixed-point-edge.ts parse': 'a number that a game writes',
  'tickwire/src/core/client/server-url.ts parseServerUrl': 'an address that a page is given',
  'tickwire/src/node/metrics.ts readPrometheus': 'the text of a program on the same machine',
  'tickwire/src/browser/later.ts openWebTransport': 'opens a connection',
  'tickwire/src/browser/later.ts openFleetRoute': 'opens a connection',
  'tickwire/src/browser/webtransport.ts openWebTransport': 'opens a connection',
  'tickwire/src/node/host.ts openHostParts': 'opens a connection',
  'tickwire/src/core/crypto/ed25519-verify.ts verifyEd25519': 'vectors: signatures have one size and one form',
  'tickwire/src/core/crypto/transcript.ts verifyChallengeKey': 'a signature over a fixed number of bytes',
  'tickwire/src/core/crypto/transcript.ts verifyTranscript': 'a signature over a fixed number of bytes',
}
/** The first reads what a foreign server sends, to report on it. The others are tools of developers. */
const EXEMPT_FOLDERS = ['tickwire/src/cli/conformance/', 'tickwire/src/testing/', 'tickwire/src/vite/']
const NAME = '(?:decode|parse|read|open|split|verify|unseal)\\w*'
const DECODER = new RegExp(`export (?:async )?function (${NAME})\\s*(?:<[^>]*>)?\\(([^)]*)\\)`, 'g')
const INPUT = /Uint8Array|text: string|: unknown|BitReader|reader:|Buffer/

/** `file function` of every exported function that takes bytes, texts or unknown values from outside. */
function decoders(folder: string): string[] {
  return readdirSync(join(ROOT, 'packages', folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .flatMap((path) => {
      const file = path.replaceAll('\\', '/').split('/packages/')[1] ?? ''
      return Array.from(readFileSync(path, 'utf8').matchAll(DECODER), ([, name, inputs]) => [name, inputs] as const)
        .filter(([, inputs]) => INPUT.test(inputs ?? ''))
        .map(([name]) => `${file} ${name}`)
    })
}

/** Files of classes that keep state between the bytes that they receive. */
const STATEFUL = [
  'channel/large-channel', 'game/lockstep-client', 'nat/packet-relay', 'nat/path-race', 'nat/stun-responder',
  'order-relay/desync-judge', 'order-relay/handover-desk', 'order-relay/order-relay', 'order-relay/pulse-table',
  'order-relay/rejoin-desk', 'order-relay/relay-requests', 'rtype-session/client', 'rtype-session/server',
].map((path) => `tickwire/src/core/${path}.ts`)
const METHOD = /^  (?:async )?((?:accept|receive|handle|note)\w*)(?:<[^>]*>)?\(([^)]*)\)/gm
const METHOD_INPUT = /Uint8Array|BitReader|SyncMessage|HandoverMessage|pulse: number/

test('[FUZZ6] every decoder of the packages is reached by a fuzz target, or is exempt for a reason', () => {
  const args = ['--conditions=tickwire-source', '--import', 'tsx', join(ROOT, 'test', 'fuzz', 'reached-process.ts')]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26,
  })
  expect(status, stderr).toBe(0)
  const reached = new Set(JSON.parse(stdout.trim().split('\n').at(-1) ?? '[]') as string[])
  const all = [...decoders('tickwire/src'), ...decoders('services/src')]
  expect(all.length).toBeGreaterThan(120)
  const isExempt = (name: string): boolean =>
    name in EXEMPT || EXEMPT_FOLDERS.some((each) => name.startsWith(each))
  expect(all.filter((name) => !reached.has(name) && !isExempt(name))).toEqual([])
  const methods = STATEFUL.flatMap((file) => {
    const text = readFileSync(join(ROOT, 'packages', file), 'utf8')
    return Array.from(text.matchAll(METHOD), ([, name, inputs]) => [name, inputs] as const)
      .filter(([, inputs]) => METHOD_INPUT.test(inputs ?? '')).map(([name]) => `${file} ${name}`)
  })
  expect(STATEFUL.filter((file) => !methods.some((name) => name.startsWith(`${file} `)))).toEqual([])
  expect(methods.filter((name) => !reached.has(name))).toEqual([])
  // An exemption that is no longer needed is removed.
  expect(Object.keys(EXEMPT).filter((name) => reached.has(name) || !all.includes(name))).toEqual([])
})
