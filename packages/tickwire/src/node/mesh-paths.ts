/** The paths of a player of a mesh on Node: one UDP socket, relays, and data channels for players in pages. */

import type { MeshPaths } from '../core/client/mesh-gathering.ts'
import type { OfferedRelay } from '../core/client/rendezvous.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { Candidate, PathMode } from '../core/nat/candidates.ts'
import { hexToBytes } from '../core/nat/hex.ts'
import { describePath } from '../core/nat/path-text.ts'
import type { SignalOffer } from '../core/nat/signaling.ts'
import { HostRtc } from './host-rtc.ts'
import { openPeerPort, type PeerUdpPort } from './nat-port.ts'
import { PortBundle } from './port-bundle.ts'

/** Opens the port of a player. */
export async function openMeshPaths(
  relays: readonly OfferedRelay[], mode: PathMode, provider: CryptoProvider, isLocal: boolean,
): Promise<MeshPaths> {
  const port = await openPeerPort({ relays: mode === 'direct-only' ? [] : relays, isLoopbackAnnounced: isLocal })
  await port.readyOne()
  return new NodeMeshPaths(port, HostRtc.open(relays, isLocal), mode, provider)
}

class NodeMeshPaths implements MeshPaths {
  readonly port: DatagramPort
  onChannelLost: (name: string) => void = () => {}
  readonly #udp: PeerUdpPort
  readonly #rtc: HostRtc | undefined
  readonly #mode: PathMode
  readonly #provider: CryptoProvider

  constructor(udp: PeerUdpPort, rtc: HostRtc | undefined, mode: PathMode, provider: CryptoProvider) {
    this.#udp = udp
    this.#rtc = rtc
    this.#mode = mode
    this.#provider = provider
    const members = [{ prefix: '', port: udp }, ...(rtc === undefined ? [] : [{ prefix: rtc.prefix, port: rtc.port }])]
    const bundle = new PortBundle(members)
    const close = bundle.close.bind(bundle)
    bundle.close = () => {
      close()
      void rtc?.close()
    }
    this.port = bundle
  }

  get onCandidates(): () => void {
    return this.#udp.onCandidates
  }

  set onCandidates(listener: () => void) {
    this.#udp.onCandidates = listener
  }

  get onNetworkChange(): () => void {
    return this.#udp.onNetworkChange
  }

  set onNetworkChange(listener: () => void) {
    this.#udp.onNetworkChange = listener
  }

  candidates(): readonly Candidate[] {
    return this.#udp.candidates(this.#mode)
  }

  introduce(name: string, { candidates, key: text }: SignalOffer): void {
    const key = hexToBytes(text)
    if (key === undefined) return
    this.#udp.addPeer({ name, candidates, key, provider: this.#provider, mode: this.#mode, isHost: true })
  }

  addCandidates(name: string, candidates: readonly Candidate[]): void {
    this.#udp.addCandidates(name, candidates)
  }

  async answer(name: string, sdp: string): Promise<string | undefined> {
    return this.#mode === 'relay-only' ? undefined : await this.#rtc?.answer(name, sdp)
  }

  /** Between processes of Node, UDP does it. */
  describe(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  accept(): void {}

  forget(name: string): void {
    this.#udp.paths.removePeer(name)
  }

  pathTo(name: string): ReturnType<MeshPaths['pathTo']> {
    const link = this.#udp.paths.peers.get(name)
    if (link === undefined) return { path: 'none', reason: 'nothing is known about the other player yet' }
    const found = this.#udp.paths.pathTo(link)
    return { path: found.kind, reason: describePath(found) }
  }
}
