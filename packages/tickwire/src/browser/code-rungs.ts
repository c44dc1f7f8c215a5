/**
 * The transports of a page to a host that it knows by a code: a data channel (WebRTC, direct or by TURN), and a relay
 * by WebSocket. The ladder tries both at once: the match begins on the relay, and moves to the channel when that is
 * open.
 *
 * Both need signalling. One offer has the allocations and the description of this page; it is sent again whenever one
 * of them changes, and every second until it is answered.
 */

import { ANSWER_MS, OFFER_AGAIN_MS } from '../core/base/limits.ts'
import type { PathName } from '../core/client/client-link.ts'
import type { JoinSpans } from '../core/client/join-spans.ts'
import { type JoinedSession, type OfferedRelay, Rendezvous } from '../core/client/rendezvous.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import { keyToText } from '../core/crypto/token-text.ts'
import { HOST_NAME } from '../core/nat/guest-meeting.ts'
import { bytesToHex, hexToBytes } from '../core/nat/hex.ts'
import { RendezvousSignaling } from '../core/nat/rendezvous-signaling.ts'
import type { SignalOffer } from '../core/nat/signaling.ts'
import { systemEntropy } from './entropy.ts'
import { iceServersOf } from './ice-servers.ts'
import type { MeetingPlan } from './meeting-plan.ts'
import type { Rung } from './offers.ts'
import type { PortMaker } from './path-port.ts'
import { openPeerChannel, type PeerChannel } from './peer-channel.ts'
import { PeerSockets } from './peer-sockets.ts'
import { pageRendezvous } from './rendezvous-machine.ts'
import type { OpenRung, RungSource } from './rungs.ts'

/** What `connect` knows about a host. */
export interface CodePlan extends MeetingPlan {
  readonly code: string
  readonly provider: CryptoProvider
  readonly spans: JoinSpans | undefined
}

/** How a page meets its host. */
interface CodeRungsOptions extends CodePlan {
  readonly rendezvous: Rendezvous
  readonly maker: PortMaker
}

const ADDRESS = `peer/${HOST_NAME}`
const RELAY_MS = 3000

/**
 * The rendezvous of each match. It counts the answers that the host is away: a page that asks a new one each time would
 * never learn that the host has left.
 */
const known: WeakMap<CodePlan, Rendezvous> = new WeakMap()

/** Joins by the code, and returns the transports to its host. Rejects with a ConnectError. */
export async function meetByCode(plan: CodePlan, maker: PortMaker): Promise<RungSource> {
  const rendezvous = known.get(plan) ?? new Rendezvous(plan.base, pageRendezvous, plan.spans)
  known.set(plan, rendezvous)
  const options = { ...plan, maker, rendezvous }
  const joined = await options.rendezvous.join(options.code, options.fingerprint)
  return new CodeRungs(options, await Meeting.open(options, joined))
}

class CodeRungs implements RungSource {
  readonly address: string = ADDRESS
  readonly #options: CodeRungsOptions
  #meeting: Meeting
  #channel: PeerChannel | undefined

  constructor(options: CodeRungsOptions, meeting: Meeting) {
    this.#options = options
    this.#meeting = meeting
  }

  get pathReason(): string | undefined {
    return this.#options.mode === 'relay-only' ? 'addresses are hidden by relay-only' : undefined
  }

  prepare(): void {}

  async open(rung: Rung, _query: string, signal: AbortSignal): Promise<OpenRung> {
    // The rendezvous was gone meanwhile: the host knows this page by a new ticket.
    if (this.#meeting.isLost) {
      const { rendezvous, code, fingerprint } = this.#options
      this.#meeting = await Meeting.open(this.#options, await rendezvous.join(code, fingerprint))
    }
    if (rung === 'websocket') return await this.#meeting.openRelay()
    if (rung !== 'webrtc') throw new Error('a host that is known by a code has no such transport')
    if (this.#options.mode === 'relay-only' && this.#meeting.iceServers.length === 0)
      throw new Error('no relay has TURN')
    const meeting = this.#meeting
    const channel = await openPeerChannel(this.#options.maker, {
      iceServers: meeting.iceServers, isRelayOnly: this.#options.mode === 'relay-only', signal, address: ADDRESS,
      exchange: (sdp) => meeting.exchange(sdp),
    })
    this.#channel = channel
    return channel
  }

  identity(): Promise<string | undefined> {
    const key = hexToBytes(this.#meeting.identity)
    return Promise.resolve(key === undefined ? undefined : keyToText('server-public', key))
  }

  pathOf({ port }: OpenRung): PathName {
    if (port !== this.#channel?.port) return 'websocket'
    return this.#channel.isRelayed() ? 'relay' : 'direct'
  }

  close(): void {
    this.#meeting.close()
  }
}

/** One stay in a session. */
class Meeting {
  /** Whether the rendezvous has closed the connection. Open transports go on. */
  isLost: boolean = false
  readonly identity: string
  readonly iceServers: ReturnType<typeof iceServersOf>
  readonly #options: CodeRungsOptions
  readonly #signals: RendezvousSignaling
  readonly #relays: readonly OfferedRelay[]
  readonly #key: Uint8Array = new Uint8Array(16)
  readonly #own: Uint8Array = new Uint8Array(32)
  readonly #waiting: Set<(answer: SignalOffer) => boolean> = new Set()
  #sockets: PeerSockets | undefined
  #sdp: string | undefined
  #again: ReturnType<typeof setInterval> | undefined

  constructor(options: CodeRungsOptions, { identity, relays }: JoinedSession, signals: RendezvousSignaling) {
    this.identity = identity
    this.#options = options
    this.#relays = relays
    this.#signals = signals
    this.iceServers = iceServersOf(relays, options.mode !== 'relay-only')
    systemEntropy.fill(this.#key)
    systemEntropy.fill(this.#own)
    signals.onLost = () => { this.isLost = true }
    signals.onArrival = () => this.#take()
  }

  static async open(options: CodeRungsOptions, joined: JoinedSession): Promise<Meeting> {
    const { session, ticket } = joined
    const socket = await options.rendezvous.openSignals()
    const { traceparent } = options.rendezvous
    const pass = { session, ticket, ...(traceparent !== undefined && { traceparent }) }
    const signals = new RendezvousSignaling(socket, pass, options.isLocal)
    await new Promise<void>((resolve, reject) => {
      signals.onWelcome = resolve
      signals.onLost = () => reject(new Error('the rendezvous closed the connection'))
    })
    return new Meeting(options, joined, signals)
  }

  /** Sends a description, and resolves with that of the host. */
  async exchange(sdp: string): Promise<string> {
    this.#sdp = sdp
    const answer = await this.#ask((found) => found.sdp !== undefined)
    return answer.sdp ?? ''
  }

  /** A port to the host through a relay. Rejects with the reason. */
  async openRelay(): Promise<OpenRung> {
    if (this.#options.mode === 'direct-only') throw new Error('relays are turned off by direct-only')
    const sockets = new PeerSockets(this.#relays, this.#options.provider)
    try {
      if (!await sockets.ready(RELAY_MS)) throw new Error('no relay answers by WebSocket')
      this.#sockets = sockets
      const { candidates } = await this.#ask(() => true)
      const link = sockets.addPeer({
        name: HOST_NAME, candidates, key: this.#key, provider: this.#options.provider, mode: 'relay-only', isHost: true,
      })
      for (const end = performance.now() + RELAY_MS; sockets.paths.pathTo(link).kind === 'none';) {
        if (performance.now() > end) throw new Error('the host is on no relay')
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      sockets.onCandidates = () => this.#send()
      return { port: sockets, address: ADDRESS }
    } catch (error) {
      sockets.close()
      throw error
    }
  }

  close(): void {
    clearInterval(this.#again)
    this.#signals.close()
  }

  /** Offers this page until an answer fits. */
  #ask(fits: (answer: SignalOffer) => boolean): Promise<SignalOffer> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(limit)
        this.#waiting.delete(take)
        if (this.#waiting.size === 0) clearInterval(this.#again)
      }
      const take = (answer: SignalOffer): boolean => {
        if (!fits(answer)) return false
        end()
        resolve(answer)
        return true
      }
      const limit = setTimeout(() => {
        end()
        reject(new Error('the host has not answered'))
      }, ANSWER_MS)
      this.#waiting.add(take)
      clearInterval(this.#again)
      this.#again = setInterval(() => this.#send(), OFFER_AGAIN_MS)
      this.#send()
    })
  }

  #send(): void {
    this.#signals.send(HOST_NAME, {
      kind: 'offer', identity: bytesToHex(this.#own), key: bytesToHex(this.#key),
      candidates: this.#sockets?.candidates() ?? [], ...(this.#sdp !== undefined && { sdp: this.#sdp }),
    })
  }

  #take(): void {
    for (let next = this.#signals.poll(); next !== undefined; next = this.#signals.poll()) {
      const [, signal] = next
      if (signal.kind === 'answer') for (const take of [...this.#waiting]) take(signal)
      if (signal.kind === 'answer' || signal.kind === 'candidate')
        this.#sockets?.addCandidates(HOST_NAME, signal.candidates)
    }
  }
}
