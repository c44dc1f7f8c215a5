/**
 * The way from a guest on Node to a host that it knows by a code: the rendezvous introduces both, then data goes by
 * relay, and directly as soon as a direct path is found (`core/nat/peer-port.ts`).
 */

import { ANSWER_MS } from '../core/base/limits.ts'
import type { ClientLink, PathName } from '../core/client/client-link.ts'
import { ConnectError } from '../core/client/connect-error.ts'
import { GuestSignals } from '../core/client/guest-signals.ts'
import type { JoinedSession, Rendezvous } from '../core/client/rendezvous.ts'
import { keyToText } from '../core/crypto/token-text.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import type { DatagramPort, DatagramPortStats } from '../core/endpoint/datagram-port.ts'
import { bytesToHex, hexToBytes } from '../core/nat/hex.ts'
import type { PathMode } from '../core/nat/candidates.ts'
import { HOST_NAME, meetHost } from '../core/nat/guest-meeting.ts'
import { describePath } from '../core/nat/path-text.ts'
import type { PeerLink } from '../core/nat/peer-port.ts'
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
  const parts = { rendezvous, isLoopbackAllowed: isLocal, later: nodePlatform.later }
  const signals = new GuestSignals(parts, joined, socket)
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
  signals: GuestSignals,
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
  const meeting = meetHost(signals, offer, nodePlatform.later, ANSWER_MS, (signal) => {
    if (signal.kind === 'candidate') port.addCandidates(HOST_NAME, signal.candidates)
  })
  // The offer does not wait for relays. What they say follows it.
  port.onCandidates = announce
  signals.onBack = announce
  port.onNetworkChange = () => signals.renew()
  const { candidates } = await Promise.race([meeting, lost(signals)]).catch(fail)
  const link = port.addPeer({ name: HOST_NAME, candidates, key, provider, mode, isHost: true })
  for (const end = performance.now() + PATH_MS; port.paths.pathTo(link).kind === 'none';) {
    if (performance.now() > end) fail()
    await new Promise((resolve) => setTimeout(resolve, PATH_LOOK_MS))
  }
  return new CodeLink(port, link, signals, identity)
}

function lost(signals: GuestSignals): Promise<never> {
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
  readonly #signals: GuestSignals
  readonly #identity: string

  constructor(port: PeerUdpPort, link: PeerLink, signals: GuestSignals, identity: string) {
    this.#port = port
    this.#link = link
    this.#signals = signals
    this.#identity = identity
    this.maxDatagramBytes = port.maxDatagramBytes
    port.onDatagram = (from, bytes, length) => this.onDatagram(from, bytes, length)
    // The match does not need the rendezvous any longer, unless a network changes.
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
