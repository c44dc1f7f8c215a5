/** One relay of a group (serve-group.ts). It ends with the process that started it. */

import { bestProvider } from 'tickwire/node'
import type { RelayOrder } from './serve-group.ts'
import { serveSkirmish } from './start-skirmish.ts'

process.once('disconnect', () => process.exit())
process.once('message', (message) => void serve(message as RelayOrder))

async function serve({ number, ports, identities, settings, folder }: RelayOrder): Promise<void> {
  const secrets = identities.map((identity) => Uint8Array.from(Buffer.from(identity, 'hex')))
  const relays = secrets.map((secret, at) => ({
    url: `http://localhost:${ports[at]}`, key: bestProvider().importSigning(Uint8Array.from(secret)).publicKey,
  }))
  const origin = relays[0]!.url
  await serveSkirmish({ ...settings, port: ports[number]! }, {
    relays,
    security: { identity: secrets[number]! },
    // Pages come from the first relay.
    origins: [origin],
    ...(number === 0 ? { static: folder } : {
      handler(request, response) {
        const isKill = request.method === 'POST' && request.url === '/kill' && request.headers.origin === origin
        response.writeHead(isKill ? 204 : 404, isKill ? { 'access-control-allow-origin': origin } : {}).end()
        if (isKill) process.send?.('kill')
      },
    }),
  })
  process.send?.('ready')
}
