/** The key of the token issuer is replaced while hosts publish. */

import { afterAll, expect, test, vi } from 'vitest'
import { bestProvider } from 'tickwire/node'
import { serveIssuer, serveTracker } from '../../packages/services/src/index.ts'
import { ask, TestHost } from './tracker-stage.ts'

const [older, newer] = [new Uint8Array(32).fill(0xa5), new Uint8Array(32).fill(0x5a)]
const publicOf = (secret: Uint8Array): Uint8Array => bestProvider().importSigning(secret.slice()).publicKey
const API_KEY = 'a-key-of-this-rotation'
const lines: string[] = []
const note = (...words: unknown[]): boolean => {
  lines.push(words.map(String).join(' '))
  return true
}
const spies = [
  ...(['log', 'info', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name).mockImplementation(note)),
  vi.spyOn(process.stdout, 'write').mockImplementation(note),
  vi.spyOn(process.stderr, 'write').mockImplementation(note),
]
afterAll(() => {
  for (const spy of spies) spy.mockRestore()
})

test('[ISSUE3] a key is replaced while hosts publish: none fails, and no secret is in logs or metrics', async () => {
  // First the trackers learn the new key, then the issuer signs with it, then the old one is forgotten.
  const tracker = await serveTracker({
    port: 0, address: '127.0.0.1', issuers: [publicOf(older), publicOf(newer)], publishesPerMinute: 1000,
    listingsPerOrigin: 1000, requestsPerMinute: 10_000,
  })
  let issuer = await serveIssuer({ port: 0, address: '127.0.0.1', keys: [older], apiKeys: [API_KEY] })
  const statuses: number[] = []
  let number = 0
  const publish = async (): Promise<void> => {
    const host = new TestHost(++number)
    const { body } = await ask(
      'POST', `http://127.0.0.1:${issuer.port}/v1/tokens`, { purpose: 'publish', server: host.identity }, API_KEY,
    )
    const list = `http://127.0.0.1:${tracker.port}/v1/listings`
    // A token of the key before is shown a moment after the issuer has changed.
    await new Promise((resolve) => { setTimeout(resolve, 20) })
    statuses.push((await ask('POST', list, { listing: host.sign() }, body.token)).status)
  }
  let metrics = ''
  for (const keys of [[older, newer], [newer, older], [newer]]) {
    const publishing = Array.from({ length: 10 }, publish)
    const next = await serveIssuer({ port: 0, address: '127.0.0.1', keys, apiKeys: [API_KEY] })
    const before = issuer
    issuer = next
    await Promise.all([...publishing, ...Array.from({ length: 10 }, publish)])
    metrics += await before.registry.metrics()
    await before.close()
  }
  expect(statuses).toEqual(Array(60).fill(201))
  metrics += await issuer.registry.metrics() + await tracker.registry.metrics()
  await issuer.close()
  await tracker.close()
  const said = metrics + lines.join('\n')
  for (const secret of [older, newer].map((bytes) => Buffer.from(bytes)))
    for (const text of [secret.toString('hex'), secret.toString('base64'), secret.toString('base64url')])
      expect(said).not.toContain(text)
  expect(said).not.toContain(API_KEY)
})
