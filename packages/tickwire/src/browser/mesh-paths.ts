/**
 * A page in a mesh that forms by a code: a data channel to each other player, and until it is open, or where UDP is
 * blocked, relays by WebSocket. Each player has one address, `peer/NAME`, whichever path carries the data.
 */

import { checkMesh, type HostedMesh, hostMesh, joinMesh, type MeshMachine } from '../core/client/mesh-code.ts'
import type { MeshParty, MeshPaths } from '../core/client/mesh-gathering.ts'
import { type OfferedRelay, Rendezvous } from '../core/client/rendezvous.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import type { DatagramPort, DatagramPortStats } from '../core/endpoint/datagram-port.ts'
import type { Candidate, PathMode } from '../core/nat/candidates.ts'
import { hexToBytes } from '../core/nat/hex.ts'
import type { SignalOffer } from '../core/nat/signaling.ts'
import { pageProvider } from './crypto.ts'
import { systemEntropy } from './entropy.ts'
import { iceServersOf } from './ice-servers.ts'
import type { MeetingPlan } from './meeting-plan.ts'
import type { PortMaker } from './path-port.ts'
import { answerPeerChannel, openPeerChannel, type PeerChannel, type PeerChannelOptions } from './peer-channel.ts'
import { PeerSockets } from './peer-sockets.ts'
import { later, pageRendezvous } from './rendezvous-machine.ts'

/** A channel that has ended is offered again after this time. */
const AGAIN_MS = 2000

/** Makes the code of a mesh. */
export async function hostPageMesh(
  plan: MeetingPlan, game: object, players: number, isStrong: boolean, maker: PortMaker,
): Promise<HostedMesh> {
  checkMesh(game, players)
  return await hostMesh(machineOf(plan, maker), players, isStrong)
}

/** Joins a mesh by its code. */
export async function joinPageMesh(
  plan: MeetingPlan, code: string, ms: number, provider: CryptoProvider, maker: PortMaker,
): Promise<MeshParty> {
  return await joinMesh(machineOf(plan, maker), code, ms, provider)
}

function machineOf({ base, fingerprint, mode, isLocal }: MeetingPlan, maker: PortMaker): MeshMachine {
  return {
    rendezvous: new Rendezvous(base, pageRendezvous), fingerprint, isLocal, entropy: systemEntropy, later,
    openPaths: (relays) => Promise.resolve(new PageMeshPaths(relays, mode, maker)),
  }
}

class PageMeshPaths implements MeshPaths, DatagramPort {
  readonly maxDatagramBytes: number
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  onNetworkChange: () => void = () => {}
  onChannelLost: (name: string) => void = () => {}
  readonly #relays: readonly OfferedRelay[]
  readonly #mode: PathMode
  readonly #maker: PortMaker
  readonly #sockets: PeerSockets
  readonly #channels: Map<string, PeerChannel> = new Map()
  /** Resolve the descriptions of others that answer offers of this page, by name. */
  readonly #answers: Map<string, (sdp: string) => void> = new Map()
  readonly #gone: AbortController = new AbortController()

  constructor(relays: readonly OfferedRelay[], mode: PathMode, maker: PortMaker) {
    this.#relays = relays
    this.#mode = mode
    this.#maker = maker
    this.#sockets = new PeerSockets(mode === 'direct-only' ? [] : relays, pageProvider)
    this.maxDatagramBytes = this.#sockets.maxDatagramBytes
    this.#sockets.onDatagram = (from, bytes, length) => this.onDatagram(from, bytes, length)
  }

  get port(): DatagramPort {
    return this
  }

  get stats(): DatagramPortStats {
    return this.#sockets.stats
  }

  get onCandidates(): () => void {
    return this.#sockets.onCandidates
  }

  set onCandidates(listener: () => void) {
    this.#sockets.onCandidates = listener
  }

  candidates(): readonly Candidate[] {
    return this.#sockets.candidates()
  }

  introduce(name: string, { candidates, key: text }: SignalOffer): void {
    const key = hexToBytes(text)
    if (key === undefined) return
    this.#sockets.addPeer({ name, candidates, key, provider: pageProvider, mode: 'relay-only', isHost: true })
  }

  addCandidates(name: string, candidates: readonly Candidate[]): void {
    this.#sockets.addCandidates(name, candidates)
  }

  forget(name: string): void {
    this.#sockets.paths.removePeer(name)
    this.#channels.get(name)?.port.close()
  }

  async answer(name: string, sdp: string): Promise<string | undefined> {
    const adopt = (channel: PeerChannel): void => this.#adopt(name, channel, () => {})
    return await answerPeerChannel(this.#maker, this.#channelOptions(name), sdp, adopt).catch(() => undefined)
  }

  describe(name: string): Promise<string | undefined> {
    return new Promise((resolve) => {
      const exchange = (sdp: string): Promise<string> => {
        resolve(sdp)
        return new Promise((settle) => { this.#answers.set(name, settle) })
      }
      const again = (): void => {
        setTimeout(() => {
          if (!this.#gone.signal.aborted) this.onChannelLost(name)
        }, AGAIN_MS)
      }
      openPeerChannel(this.#maker, { ...this.#channelOptions(name), exchange, signal: this.#gone.signal })
        .then((channel) => this.#adopt(name, channel, again), () => resolve(undefined))
    })
  }

  accept(name: string, sdp: string): void {
    this.#answers.get(name)?.(sdp)
    this.#answers.delete(name)
  }

  pathTo(name: string): ReturnType<MeshPaths['pathTo']> {
    const channel = this.#channels.get(name)
    if (channel !== undefined) {
      return channel.isRelayed()
        ? { path: 'relay', reason: 'a data channel by TURN' } : { path: 'direct', reason: 'a data channel' }
    }
    const link = this.#sockets.paths.peers.get(name)
    const isReached = link !== undefined && this.#sockets.paths.pathTo(link).kind !== 'none'
    return isReached
      ? { path: 'websocket', reason: 'a relay by WebSocket: no data channel is open' }
      : { path: 'none', reason: 'nothing is known about the other player yet' }
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    const channel = this.#channels.get(to.slice('peer/'.length))
    if (channel === undefined) this.#sockets.send(to, bytes, length)
    else channel.port.send(channel.address, bytes, length)
  }

  close(): void {
    this.#gone.abort()
    for (const { port } of [...this.#channels.values()]) port.close()
    this.#sockets.close()
  }

  #channelOptions(name: string): Omit<PeerChannelOptions, 'exchange' | 'signal'> {
    const isRelayOnly = this.#mode === 'relay-only'
    return { iceServers: iceServersOf(this.#relays, !isRelayOnly), isRelayOnly, address: `peer/${name}` }
  }

  #adopt(name: string, channel: PeerChannel, onLost: () => void): void {
    if (this.#gone.signal.aborted) return channel.port.close()
    const before = this.#channels.get(name)
    this.#channels.set(name, channel)
    before?.port.close()
    channel.port.onDatagram = (from, bytes, length) => this.onDatagram(from, bytes, length)
    channel.port.onPathClosed = () => {
      if (this.#channels.get(name) !== channel) return
      this.#channels.delete(name)
      onLost()
    }
  }
}
