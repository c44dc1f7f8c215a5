/** The programs `tickwire all`, `track` and `issue` as processes. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { encodeCard, type LockstepGame } from 'tickwire/lockstep'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { bundlePrograms } from '../bundle-programs.ts'
import { game } from '../sim/lockstep-game.ts'
import { endPrograms, Program } from './program.ts'
import { ask, TestHost, until } from './tracker-stage.ts'

const bundle = await bundlePrograms({ tickwire: 'packages/services/src/cli/index.ts' })
const CLI = pathToFileURL(join(bundle.folder, 'tickwire.mjs'))
const folder = mkdtempSync(join(tmpdir(), 'tickwire-all-'))
const fileOf = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

afterAll(async () => {
  await endPrograms()
  bundle.remove()
  rmSync(folder, { recursive: true, force: true })
})

test('[ALL1] one process has relay, codes, games, tokens and orders, without account and files', async () => {
  const card = fileOf('skirmish.card.json', encodeCard(game as unknown as LockstepGame))
  const program = new Program(CLI, [
    'all', '--port', '0', '--relay-port', '0', '--ops', '0', '--public', '127.0.0.1', '--card', card,
    '--lockstep-port', '0',
  ])
  const [, url = ''] = await program.says(/codes: (\S+)/)
  await program.says(/relay and stun: UDP 127\.0\.0\.1:\d+/)
  await program.says(/lockstep: http:\S+, 1 games/)
  const [, status = ''] = await program.says(/status: (\S+)\/metrics/)
  const host = new TestHost(1)
  expect((await ask('POST', `${url}v1/listings`, { listing: host.sign() })).status).toBe(201)
  // A page of this machine is a stranger.
  const origin = { origin: 'https://evil.example' }
  expect((await ask('POST', `${url}v1/listings`, { listing: host.sign() }, undefined, origin)).status).toBe(401)
  await until(async () => String((await ask('GET', `${url}games`)).body).includes('match 1'))
  expect((await ask('GET', `${url}v1/keys`)).body.keys).toHaveLength(1)
  expect((await ask('POST', `${url}v1/tokens`, { purpose: 'publish', server: host.identity }, 'x')).status).toBe(401)
  const facts = { fingerprint: '0'.repeat(16), identity: host.identity, capacity: 2 }
  expect((await ask('POST', `${url}v1/sessions`, facts)).body.code).toMatch(/^[A-Z]+-\w{4}$/)
  expect((await ask('GET', `${url}openapi.json`)).body.paths).toHaveProperty('/v1/listings')
  const metrics = String((await ask('GET', `${status}/metrics`)).body)
  expect(metrics).toMatch(/tickwire_track_listings 1/)
  expect(metrics).toMatch(/tickwire_rendezvous_sessions 1/)
  expect(`${program.said}${metrics}`.match(/\b(?:\d{1,3}\.){3}\d{1,3}\b/g)?.every((ip) => ip === '127.0.0.1')).not.toBe(false)
  program.child.kill('SIGTERM')
  expect(await program.ended).toBe(0)
})

test('[ISSUE1] a host gets a publish token from one program and shows it to another', async () => {
  const secret = new Uint8Array(32).fill(5)
  const key = fileOf('issuer.key', keyToText('issuer-secret', secret))
  const pub = fileOf('issuer.pub', keyToText('issuer-public', bestProvider().importSigning(secret.slice()).publicKey))
  const apiKey = fileOf('api.key', 'a-key-of-this-test')
  const issue = new Program(CLI, ['issue', '--key', key, '--api-key', apiKey, '--port', '0', '--ops', '0'])
  const track = new Program(CLI, [
    'track', '--issuer', pub, '--publish', 'token', '--heartbeat-ttl', '30s', '--port', '0', '--ops', '0',
  ])
  const [, tokens = ''] = await issue.says(/tokens: (\S+),/)
  const [, games = ''] = await track.says(/games: (\S+)games/)
  const host = new TestHost(2)
  const request = { purpose: 'publish', server: host.identity }
  const { body: { token } } = await ask('POST', tokens, request, 'a-key-of-this-test')
  const list = `${games}v1/listings`
  expect((await ask('POST', list, { listing: host.sign() })).status).toBe(401)
  expect((await ask('POST', list, { listing: host.sign() }, token)).body.ttlMs).toBe(30_000)
  for (const [args, expected] of [
    [['track', '--heartbeat-tll', '30s'], /Did you mean --heartbeat-ttl\?/],
    [['track', '--rate-limit', 'often'], /--rate-limit: not a rate/], [['track', '--publish', 'all'], /unknown rule/],
    [['all', '--store', 'redis://127.0.0.1'], /--store: needs --key-file/],
    [['issue', '--api-key', apiKey], /--key: missing/], [['track', '--store', 'mysql://x'], /--store: not a store/],
  ] as const) {
    const refused = new Program(CLI, args)
    await refused.says(expected)
    expect(await refused.ended).toBe(2)
  }
})
