/** Other people's TURN clients against a relay on a real socket of this machine. */

import { spawn, spawnSync } from 'node:child_process'
import { issueRelayToken, turnCredentials } from 'tickwire/nat'
import { afterAll, expect, test } from 'vitest'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { openRelay } from '../../packages/tickwire/src/node/relay-server.ts'

const provider = bestProvider()
const issuer = provider.importSigning(new Uint8Array(32).fill(3))
const hasCoturn = spawnSync('turnutils_uclient', []).error === undefined
let tokens = 0

const relay = await openRelay({
  issuers: [issuer.publicKey], port: 0, address: '127.0.0.1', relayed: '127.0.0.1',
  quota: { packetsPerSecond: 4000, kbitsPerSecond: 8000 },
})

afterAll(() => relay.close())

function credentials(session: number): { readonly username: string; readonly credential: string } {
  const issuedAt = Math.floor(Date.now() / 1000)
  return turnCredentials(issueRelayToken(provider, issuer, {
    session: new Uint8Array(16).fill(session), id: new Uint8Array(16).fill(++tokens), issuedAt,
    expiresAt: issuedAt + 300, audience: 'relay',
  }))
}

test.runIf(!hasCoturn && process.env['CI'] !== undefined)('[TURN6] coturn is there in CI', () => {
  expect(hasCoturn).toBe(true)
})

test.skipIf(!hasCoturn)('[TURN6] turnutils_uclient: indications and channels, no packet lost', async () => {
  const port = relay.relayed.split(':').at(-1)!
  const said = await Promise.all([['-s'], [], ['-D', '-X']].map((flags, index) => new Promise<string>((resolve) => {
    const { username, credential } = credentials(10 + index)
    const child = spawn('turnutils_uclient', [
      '-y', '-c', '-m', '2', '-n', '50', '-l', '150', '-z', '5', '-p', port, '-u', username, '-w', credential, ...flags,
      '127.0.0.1',
    ])
    let text = ''
    const note = (chunk: Buffer): void => {
      text += String(chunk)
    }
    child.stdout.on('data', note)
    child.stderr.on('data', note)
    child.on('close', () => resolve(text))
  })))
  for (const text of said) {
    expect(text).toContain('tot_send_msgs=100, tot_recv_msgs=100')
    expect(text).toContain('Total lost packets 0 ')
  }
  expect(relay.relay.counts.forged).toBe(0)
}, 60_000)
