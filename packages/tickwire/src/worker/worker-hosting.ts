/**
 * The match of a page that hosts, in its Worker (`host-worker.ts`): the host of the match, the ports of its players,
 * and the session at the rendezvous.
 *
 * Guests reach it by data channels, and by relays through WebSockets; players of this machine by MessagePorts.
 */

import { HostedSession } from '../core/client/hosted-session.ts'
import { Rendezvous } from '../core/client/rendezvous.ts'
import { pureProvider } from '../core/crypto/pure-provider.ts'
import { MessagePorts } from '../core/endpoint/message-ports.ts'
import type { Game } from '../core/game/define-game.ts'
import { createRoomHost, SINGLE_MATCH, singleMatchType } from '../core/game/match-host.ts'
import type { LockstepGame } from '../core/lockstep/define-lockstep.ts'
import { HostDesk } from '../core/nat/host-desk.ts'
import { bytesToHex, hexToBytes } from '../core/nat/hex.ts'
import { createRelayHost } from '../core/relaying/relay-host.ts'
import type { HostedRoom } from '../core/rooms/hosted-room.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import type { RoomHostOptions } from '../core/rooms/room-host-options.ts'
import { monotonicNow as now } from '../browser/clock.ts'
import { systemEntropy } from '../browser/entropy.ts'
import type { HostCommand, HostReport } from '../browser/host-messages.ts'
import type { RunHostOptions } from './run-host-options.ts'
import { iceServersOf } from '../browser/ice-servers.ts'
import { PeerSockets } from '../browser/peer-sockets.ts'
import { later, pageRendezvous } from '../browser/rendezvous-machine.ts'
import { CHANNEL_PREFIX, WorkerChannels } from './worker-channels.ts'

const CLOSE_MS = 500
const GUESTS_DEFAULT = 32
const RESUME_MS = 60_000
const REPORT_MS = 500

type Driven = 'handleDatagram' | 'handlePathClosed' | 'tick' | 'drain' | 'close' | 'players'

/** A match, and everything that leads to it. */
export class WorkerHosting {
  readonly #report: (said: HostReport) => void
  readonly #host: Pick<RoomHost<HostedRoom>, Driven>
  readonly #connections: () => number
  readonly #identity: Uint8Array = new Uint8Array(32)
  readonly #fingerprint: Uint8Array
  readonly #capacity: number
  readonly #local: MessagePorts = new MessagePorts()
  readonly #channels: WorkerChannels
  readonly #answers: Map<string, (sdp: string | undefined) => void> = new Map()
  #sockets: PeerSockets | undefined
  #session: HostedSession | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #closeBy: number = Infinity
  #reportedAt: number = 0

  constructor(game: Game | LockstepGame, options: RunHostOptions, report: (said: HostReport) => void) {
    this.#report = report
    this.#fingerprint = game.fingerprint
    this.#channels = new WorkerChannels(report)
    systemEntropy.fill(this.#identity)
    const parts: RoomHostOptions<never> = {
      entropy: systemEntropy, maxRooms: 1, security: { provider: pureProvider, identity: this.#identity.slice() },
      limits: { originOf: (address) => address }, onError: (fault) => console.error('tickwire:', fault.error),
      onWake: () => this.#wakeSoon(),
    }
    const host = createHost(game, options, parts)
    this.#host = host
    this.#connections = () => host.endpoint.connections.length
    this.#capacity = options.maxPlayers ?? GUESTS_DEFAULT
    for (const port of [this.#local, this.#channels]) {
      port.onDatagram = (from, bytes, length) => this.#receive(from, bytes, length)
      port.onPathClosed = (address) => {
        this.#host.handlePathClosed(address)
        this.#wakeSoon()
      }
    }
    this.#wake()
  }

  /** Makes the session, and lets guests in. */
  async open({ base, mode, isStrong, isLocal }: HostCommand & { readonly name: 'host' }): Promise<void> {
    const identity = bytesToHex(pureProvider.importSigning(this.#identity.slice()).publicKey)
    const session = await HostedSession.create({
      rendezvous: new Rendezvous(base, pageRendezvous), isStrong, isLoopbackAllowed: isLocal,
      facts: { fingerprint: bytesToHex(this.#fingerprint), identity, capacity: this.#capacity },
      later,
    })
    this.#session = session
    const { relays } = session.own
    const sockets = new PeerSockets(mode === 'direct-only' ? [] : relays, pureProvider)
    this.#sockets = sockets
    sockets.onDatagram = (from, bytes, length) => this.#receive(from, bytes, length)
    const isRelayOnly = mode === 'relay-only'
    const desk = new HostDesk(identity, {
      candidates: () => sockets.candidates(),
      introduce: (guest, { candidates, key: text }) => {
        const key = hexToBytes(text)
        if (key !== undefined)
          sockets.addPeer({ name: guest, candidates, key, provider: pureProvider, mode: 'relay-only', isHost: false })
      },
      addCandidates: (guest, candidates) => sockets.addCandidates(guest, candidates),
      answer: (guest, sdp) => new Promise((resolve) => {
        this.#answers.set(guest, resolve)
        report({ name: 'offer', guest, sdp, iceServers: iceServersOf(relays, !isRelayOnly), isRelayOnly })
      }),
      forget: (guest) => sockets.paths.removePeer(guest),
    }, (guest, signal) => session.send(guest, signal))
    const report = this.#report
    session.onSignal = (guest, signal) => desk.handle(guest, signal)
    session.onCode = () => report({ name: 'hosting', code: session.own.code, link: session.own.link })
    session.onBack = () => desk.announce()
    sockets.onCandidates = () => desk.announce()
    await session.listen()
    report({ name: 'hosting', code: session.own.code, link: session.own.link })
  }

  handle(command: HostCommand): void {
    switch (command.name) {
      case 'admit': return void this.#local.admit(command.port)
      case 'answer':
        this.#answers.get(command.guest)?.(command.sdp)
        return void this.#answers.delete(command.guest)
      case 'channel': return this.#channels.add(command.id, command.channel)
      case 'message': return this.#channels.receive(command.id, command.bytes)
      case 'gone': return this.#channels.remove(command.id)
      case 'close':
        this.#closeBy = now() + CLOSE_MS
        this.#host.close(now(), 'host-left')
        return this.#wake()
      case 'host': return
      default: return command satisfies never
    }
  }

  #receive(from: string, bytes: Uint8Array, length: number): void {
    this.#host.handleDatagram(now(), from, bytes, length)
    this.#wakeSoon()
  }

  /** For `drain`: each port has its own addresses. */
  #send(to: string, bytes: Uint8Array, length: number): void {
    if (to.startsWith(CHANNEL_PREFIX)) this.#channels.send(to, bytes, length)
    else if (to.startsWith('relay/')) this.#sockets?.send(to, bytes, length)
    else this.#local.send(to, bytes, length)
  }

  #wakeSoon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#wake(), 0)
  }

  #wake(): void {
    clearTimeout(this.#timer)
    const time = now()
    this.#host.tick(time)
    const port = { send: (to: string, bytes: Uint8Array, length: number) => this.#send(to, bytes, length) }
    const wakeAt = this.#host.drain(time, port)
    if (time - this.#reportedAt >= REPORT_MS) {
      this.#reportedAt = time
      this.#report({ name: 'players', count: this.#host.players })
    }
    if (this.#closeBy !== Infinity && (this.#connections() === 0 || time > this.#closeBy)) return this.#end()
    const next = Math.min(wakeAt, this.#closeBy)
    if (next !== Infinity) this.#timer = setTimeout(() => this.#wake(), Math.max(0, next - now()))
  }

  #end(): void {
    this.#session?.close()
    this.#sockets?.close()
    this.#channels.close()
    this.#report({ name: 'closed' })
  }
}

/** A host with one room: a match with a world, or the order relay of a lockstep game. */
function createHost(
  game: Game | LockstepGame, options: RunHostOptions, parts: RoomHostOptions<never>,
): RoomHost<never> {
  const relayType = (card: LockstepGame): object => ({
    game: card, capacity: card.players[1], resumeMs: RESUME_MS, spectators: options.maxSpectators ?? 0,
    emptyMs: Infinity,
  })
  const [type, create] = 'orders' in game
    ? [relayType(game), createRelayHost] : [singleMatchType(game, options), createRoomHost]
  // reason: a host has rooms of any kind; this one only creates its single room and drives it.
  const host = (create as (types: object, parts: object) => unknown)({ [SINGLE_MATCH]: type }, parts) as RoomHost<never>
  host.create(SINGLE_MATCH)
  return host
}
