/**
 * A relay and a rendezvous in one process, with everything in memory: for friends on one network, or as a whole service
 * on one small machine.
 */

import { randomBytes } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { bestProvider, openRelay, type RelayServer } from 'tickwire/node'
import { serveRendezvous, type RendezvousOptions, type ServingRendezvous } from '../rendezvous/serve-rendezvous.ts'

/** How both are served. */
export interface ServeAllOptions extends Omit<RendezvousOptions, 'relays' | 'issuer'> {
  /** The UDP port of the relay, and the TCP port of its WebSocket. Default 7777; 0: any free ports. */
  readonly relayPort?: number
  /** The address that players reach this machine at. Default: its address on the local network. */
  readonly publicAddress?: string
}

/** Both, being served. */
export interface ServingAll {
  /** Where players reach the rendezvous. */
  readonly url: string
  readonly rendezvous: ServingRendezvous
  readonly relay: RelayServer
  close(): Promise<void>
}

/** Serves both. Throws `ConfigError` when a port is taken. */
export async function serveAll(options: ServeAllOptions = {}): Promise<ServingAll> {
  const { relayPort, publicAddress = ownAddress(), ...rest } = options
  const issuer = randomBytes(32)
  const { publicKey } = bestProvider().importSigning(Uint8Array.from(issuer))
  const relay = await openRelay({
    // The players of one machine's match share its relay, and a host sends for all of them.
    quota: { kbitsPerSecond: 16_000, packetsPerSecond: 8000 },
    issuers: [publicKey], relayed: publicAddress, webSocket: {}, ...(relayPort !== undefined && { port: relayPort }),
    ...(options.address !== undefined && { address: options.address }),
  })
  try {
    const host = publicAddress.includes(':') ? `[${publicAddress}]` : publicAddress
    const webSocket = relay.webSocket === undefined ? undefined : new URL(relay.webSocket.url)
    if (webSocket !== undefined) webSocket.hostname = host
    const rendezvous = await serveRendezvous({
      ...rest, issuer, audience: 'relay',
      relays: [{ address: relay.relayed, ...(webSocket !== undefined && { url: webSocket.href }) }],
    })
    return {
      url: `http://${host}:${rendezvous.port}/`, rendezvous, relay,
      close: async () => {
        await rendezvous.close()
        await relay.close()
      },
    }
  } catch (error) {
    await relay.close()
    throw error
  }
}

/** The address of this machine on its network; of the machine itself when it has none. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
}
