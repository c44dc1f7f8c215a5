/** The code of docs/guide/relays.md. */

import { expect, test } from 'vitest'
import { openRelay } from 'tickwire/node'
import { iceServers, introduce, relayToken } from '../../docs/guide/examples/relay.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { openPeerPort } from '../../packages/tickwire/src/node/nat-port.ts'

test('[NAT36] the tokens of the guide give an allocation, and credentials for TURN', async () => {
  const secret = new Uint8Array(32).fill(4)
  const { publicKey } = bestProvider().importSigning(secret.slice())
  const relay = await openRelay({ issuers: [publicKey], port: 0, address: '127.0.0.1', relayed: '127.0.0.1' })
  const token = relayToken(secret, new Uint8Array(16).fill(1))
  const port = await openPeerPort({ relays: [{ address: relay.relayed, token }] })
  await port.ready()
  expect(port.paths.relays[0]).toMatchObject({ state: 'ready', relayed: relay.relayed })
  const [server] = iceServers(relay.relayed, relayToken(secret, new Uint8Array(16).fill(1)))
  expect(server).toEqual({
    urls: `turn:${relay.relayed}?transport=udp`, username: expect.stringMatching(/^[\w-]{170,220}$/),
    credential: 'tickwire',
  })
  port.close()
  await relay.close()
})

test('[NAT36] the signalling of the guide introduces two players', async () => {
  const offer = {
    kind: 'offer', identity: 'ab'.repeat(32), key: 'cd'.repeat(16),
    candidates: [{ kind: 'host', address: '192.168.1.5:4000' }],
  } as const
  expect(await introduce(offer)).toEqual(['ann', offer])
})
