/** Tokens for a relay, TURN for pages, and signalling without a service. For docs/guide/relays.md. */

// #region tokens
import { issueRelayToken, turnCredentials } from 'tickwire/nat'
import { bestProvider, systemEntropy } from 'tickwire/node'

/** A token for one player of a match. `issuer`: 32 secret bytes. `session`: 16 bytes, the same for all its players. */
export function relayToken(issuer: Uint8Array, session: Uint8Array): Uint8Array {
  const id = new Uint8Array(16)
  systemEntropy.fill(id)
  const issuedAt = Math.floor(Date.now() / 1000)
  return issueRelayToken(bestProvider(), bestProvider().importSigning(issuer.slice()), {
    session, id, issuedAt, expiresAt: issuedAt + 120, audience: 'relay', kbitsPerSecond: 128, minutes: 60,
  })
}
// #endregion

// #region turn
/** For `new RTCPeerConnection({ iceServers })` in a page. */
export function iceServers(relay: string, token: Uint8Array): { urls: string; username: string; credential: string }[] {
  return [{ urls: `turn:${relay}?transport=udp`, ...turnCredentials(token) }]
}
// #endregion

// #region signalling
import type { Signal } from 'tickwire/nat'
import { openDirectSignaling } from 'tickwire/node'

/** The host waits for offers, the guest sends one. Resolves with what the host received. */
export async function introduce(offer: Signal): Promise<readonly [peer: string, signal: Signal] | undefined> {
  const host = await openDirectSignaling({ name: 'host', guestsMax: 4, address: '127.0.0.1' })
  const guest = await openDirectSignaling({ name: 'ann', peers: { host: host.localAddress }, address: '127.0.0.1' })
  const arrived = new Promise<void>((resolve) => {
    host.onArrival = resolve
  })
  guest.send('host', offer)
  await arrived
  const received = host.poll()
  host.close()
  guest.close()
  await Promise.all([host.closed, guest.closed])
  return received
}
// #endregion
