/**
 * The way from a guest on Node to a host that it knows by a code: the rendezvous introduces both, then data goes by
 * relay, and directly as soon as a direct path is found (`core/nat/peer-port.ts`).
 */

import { ANSWER_MS } from '../core/base/limits.ts'
import type { ClientLink, PathName } from '../core/client/client-link.ts'
import { ConnectError } from '../core/client/connect-error.ts'
import type { JoinedSession, Rendezvous } from '../core/client/rendezvous.ts'
import { keyToText } from '../core/crypto/token-text.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import type { DatagramPort, DatagramPortStats } from '../core/endpoint/datagram-port.ts'
import { bytesToHex, hexToBytes } from '../core/nat/hex.ts'
import type { PathMode } from '../core/nat/candidates.ts'
import { HOST_NAME, meetHost } from '../core/nat/guest-meeting.ts'
import { describePath } from '../core/nat/path-text.ts'
import type { PeerLink } from '../core/nat/peer-port.ts'
import { RendezvousSignaling } from '../core/nat/rendezvous-signaling.ts'
import type { SignalOffer } from '../core/nat/signaling.ts'
import { systemEntropy } from './entropy.ts'
import { openPeerPort, type PeerUdpPort } from './nat-port.ts'
import { nodePlatform } from './node-platform.ts'

/** How a guest meets its host. */
export interface CodeLinkOptions {
  readonly rendezvous: Rendezvous
  readonly code: string
  /** 16 hexadecimal digits. */
  readonly fingerprint: string
  readonly mode: PathMode
  readonly provider: CryptoProvider
  /** Whether addresses on this machine may be used: the rendezvous is on this machine too. */
  readonly isLocal: boolean
}

const PATH_MS = 5000
const PATH_LOOK_MS = 2

/** Joins by a code. Resolves when there is a path to the host; rejects with a ConnectError. */
export async function openCodeLink(options: CodeLinkOptions): Promise<ClientLink> {
  const { rendezvous, code, fingerprint, isLocal } = options
  // The socket opens beside the question, because its handshakes take two round trips.
  const opening = rendezvous.openSignals()
  opening.catch(() => {})
  const joined = await rendezvous.join(code, fingerprint).catch((error: unknown) => {
    void opening.then((opened) => opened.close(), () => {})
    throw error
  })
  const [socket, port] = await Promise.all([
    opening, openPeerPort({ relays: joined.relays, isLoopbackAnnounced: isLocal }),
  ])
  const { session, ticket } = joined
  const signals = new RendezvousSignaling(socket, { session, ticket }, isLocal)
  try {
    return await meet(options, joined, signals, port)
  } catch (error) {
    signals.close()
    port.close()
    throw error
  }
}

async function meet(
  { rendezvous, code, mode, provider }: CodeLinkOptions,
  { identity }: JoinedSession,
  signals: RendezvousSignaling,
  port: PeerUdpPort,
): Promise<ClientLink> {
  const fail = (): never => {
    const reason = { by: 'network', code: 'unreachable' } as const
    throw new ConnectError(`${rendezvous.base} with the code ${code}`, reason, {
      found: { kind: 'code', problem: 'no-path' },
    })
  }
  const key = new Uint8Array(16)
  const own = new Uint8Array(32)
  systemEntropy.fill(key)
  systemEntropy.fill(own)
  const offer = (): SignalOffer => ({
    kind: 'offer', identity: bytesToHex(own), key: bytesToHex(key), candidates: port.candidates(mode),
  })
  const announce = (): void => signals.send(HOST_NAME, { kind: 'candidate', candidates: port.candidates(mode) })
  // The offer does not wait for relays. What they say follows it.
  void announceChanges(port, mode, announce)
  const meeting = meetHost(signals, offer, nodePlatform.later, ANSWER_MS, (signal) => {
    if (signal.kind === 'candidate') port.addCandidates(HOST_NAME, signal.candidates)
  })
  const { candidates } = await Promise.race([meeting, lost(signals)]).catch(fail)
  const link = port.addPeer({ name: HOST_NAME, candidates, key, provider, mode, isHost: true })
  port.onCandidates = announce
  for (const end = performance.now() + PATH_MS; port.paths.pathTo(link).kind === 'none';) {
    if (performance.now() > end) fail()
    await new Promise((resolve) => setTimeout(resolve, PATH_LOOK_MS))
  }
  return new CodeLink(port, link, signals, identity)
}

/** Announces candidates whenever there are more of them, until all relays have answered. */
async function announceChanges(port: PeerUdpPort, mode: PathMode, announce: () => void): Promise<void> {
  let said = JSON.stringify(port.candidates(mode))
  for (const end = performance.now() + PATH_MS; performance.now() < end;) {
    const isWhole = port.paths.relays.every(({ state }) => state !== 'asking')
    const text = JSON.stringify(port.candidates(mode))
    if (text !== said) announce()
    said = text
    if (isWhole) return
    await new Promise((resolve) => setTimeout(resolve, PATH_LOOK_MS))
  }
}

function lost(signals: RendezvousSignaling): Promise<never> {
  return new Promise((_resolve, reject) => {
    signals.onLost = () => reject(new Error('the rendezvous closed the connection'))
  })
}

/** A link with several paths to one host. */
class CodeLink implements ClientLink {
  readonly address: string = `peer/${HOST_NAME}`
  readonly transport = 'udp'
  readonly reason = 'a match that is joined by a code'
  readonly provenCount = 1
  readonly maxDatagramBytes: number
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  onSwitched: () => void = () => {}
  readonly #port: PeerUdpPort
  readonly #link: PeerLink
  readonly #signals: RendezvousSignaling
  readonly #identity: string

  constructor(port: PeerUdpPort, link: PeerLink, signals: RendezvousSignaling, identity: string) {
    this.#port = port
    this.#link = link
    this.#signals = signals
    this.#identity = identity
    this.maxDatagramBytes = port.maxDatagramBytes
    port.onDatagram = (from, bytes, length) => this.onDatagram(from, bytes, length)
    // The match does not need the rendezvous any longer.
    signals.onLost = () => {}
  }

  get path(): PathName {
    return this.#port.paths.pathTo(this.#link).kind
  }

  get pathReason(): string {
    return describePath(this.#port.paths.pathTo(this.#link))
  }

  get stats(): DatagramPortStats {
    return this.#port.stats
  }

  identity(): Promise<string | undefined> {
    const key = hexToBytes(this.#identity)
    return Promise.resolve(key === undefined ? undefined : keyToText('server-public', key))
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    this.#port.send(to, bytes, length)
  }

  settle(): void {}

  climb(): void {
    this.#port.race()
  }

  close(): void {
    this.#signals.close()
    this.#port.close()
  }
}
