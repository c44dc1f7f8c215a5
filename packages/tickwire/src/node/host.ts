/**
 * Hosts a match on this machine, which may be behind a router, with one call. Other players join with a code.
 *
 * ```ts
 * const hosted = await host(game, { rendezvous: 'https://play.example' })
 * console.log(hosted.code, hosted.link)
 * ```
 *
 * The rendezvous introduces players to this machine. Then it is not needed: when it is gone, the match goes on, and the
 * code works again when it is back.
 */

import { SPECTATORS_DEFAULT } from '../core/base/limits.ts'
import { HostDesk, type HostPaths } from '../core/nat/host-desk.ts'
import { checkMesh, type HostedMesh, hostMesh } from '../core/client/mesh-code.ts'
import { HostedSession } from '../core/client/hosted-session.ts'
import { Rendezvous } from '../core/client/rendezvous.ts'
import { isLocalHost, parseServerUrl } from '../core/client/server-url.ts'
import type { Game } from '../core/game/define-game.ts'
import type { LockstepGame } from '../core/lockstep/define-lockstep.ts'
import type { PathMode } from '../core/nat/candidates.ts'
import { bytesToHex, hexToBytes } from '../core/nat/hex.ts'
import type { Shape } from '../core/schema/field.ts'
import { bestProvider } from './crypto.ts'
import { systemEntropy } from './entropy.ts'
import { HostRtc } from './host-rtc.ts'
import type { ServingLockstep } from './lockstep-server.ts'
import { openPeerPort, type PeerUdpPort } from './nat-port.ts'
import { nodePlatform } from './node-platform.ts'
import { openRoomServer } from './open-room-server.ts'
import { meshMachine } from './mesh-machine.ts'
import { nodeRendezvous } from './rendezvous-machine.ts'
import type { HostedPorts } from './room-server.ts'
import { Serving, type ServeOptions } from './serve.ts'
import { checkNames, HOST_NAMES, MESH_HOST_NAMES } from './option-names.ts'

/** How a match is hosted. */
export interface HostOptions<I extends Shape = Shape> extends Omit<ServeOptions<I>, 'udp'> {
  /** The address of the rendezvous. */
  readonly rendezvous: string | URL
  /**
   * `race`: by relay at first, directly as soon as that works. `relay-only` hides the address of this machine.
   * `direct-only` uses no relay. Default: `race`.
   */
  readonly path?: PathMode
  /** Whether the code has two words, which is harder to guess. Default: no. */
  readonly strong?: boolean
  /** The UDP port. Default 0: any free port. */
  readonly udpPort?: number
}

const GUESTS_DEFAULT = 32
const RESUME_MS = 60_000

/** How a mesh is hosted: see `HostOptions`. */
export interface MeshHostOptions extends Pick<HostOptions, 'rendezvous' | 'path' | 'strong'> {
  /** How many players the mesh has, with this one: 2 or 3. */
  readonly mesh: number
}

/** Hosts a match until `close`. Rejects when the rendezvous does not answer. */
export async function host<I extends Shape>(game: Game<I>, options: HostOptions<I>): Promise<HostedMatch<Serving<I>>>
/** Hosts the order relay of a lockstep match. The player of this machine joins with `relay(hosted.url)`. */
export async function host(game: LockstepGame, options: HostOptions): Promise<HostedMatch<ServingLockstep>>
/** Makes a code for a mesh of 2 or 3 players. This player enters with `mesh(hosted)`, the others with `mesh(code)`. */
export async function host(game: LockstepGame, options: MeshHostOptions): Promise<HostedMesh>
export async function host(
  game: Game | LockstepGame, options: HostOptions | MeshHostOptions,
): Promise<HostedMatch<Hosting> | HostedMesh> {
  if ('mesh' in options) return await openMesh(game, options)
  checkNames('host', options, HOST_NAMES)
  const { rendezvous: _, path: __, strong: ___, udpPort: ____, ...given } = options
  const { maxPlayers = GUESTS_DEFAULT, maxSpectators = SPECTATORS_DEFAULT } = options
  const parts = await openHostParts(game.fingerprint, { ...options, capacity: maxPlayers + maxSpectators })
  const serveOptions: ServeOptions = {
    port: 0, webtransport: false, webrtc: false, ops: false, ...given, udp: false,
    security: { ...given.security, identity: parts.identity },
  }
  try {
    const serving = 'orders' in game
      ? await openRelayMatch(game, serveOptions, parts)
      : await openRoomServer(
        serveOptions, (server) => new Serving(game, serveOptions, { ...server, hosted: parts.hosted }),
      )
    await parts.session.listen()
    return new HostedMatch<Hosting>(serving, parts)
  } catch (error) {
    parts.close()
    throw error
  }
}

/** The code of a mesh. */
async function openMesh(game: Game | LockstepGame, options: MeshHostOptions): Promise<HostedMesh> {
  checkNames('host', options, MESH_HOST_NAMES)
  checkMesh(game, options.mesh)
  const { rendezvous, path = 'race', strong = false, mesh } = options
  return await hostMesh(meshMachine(game.fingerprint, rendezvous, path), mesh, strong)
}

type Hosting = Serving | ServingLockstep

/** The order relay of a lockstep match, in one room. */
async function openRelayMatch(
  game: LockstepGame, options: ServeOptions, { hosted }: HostParts,
): Promise<ServingLockstep> {
  const { port = 0, address, security, signals, log, tracer } = options
  const { maxSpectators: spectators = 0, resumeMs = RESUME_MS } = options
  const { openLockstep } = await import('./lockstep-server.ts')
  const serving = await openLockstep({ match: { game, spectators, resumeMs, emptyMs: Infinity } }, {
    port, maxRooms: 1, webtransport: false, webrtc: false, udp: false,
    ...(address !== undefined && { address }), ...(security && { security }), ...(log && { log }),
    ...(tracer && { tracer }),
    ...(signals !== undefined && { signals }),
  }, hosted)
  serving.rooms.create('match')
  return serving
}

/** A match that is hosted on this machine. */
export class HostedMatch<S extends Pick<Serving, 'close' | 'onClosed' | 'url'> = Serving> {
  /** The match, and everything else that `serve` or `serveLockstep` has. */
  readonly serving: S
  /** Called when the code has changed, because the rendezvous lost it and does not know this host. */
  onCode: (code: string) => void = () => {}
  readonly #parts: HostParts

  constructor(serving: S, parts: HostParts) {
    this.serving = serving
    this.#parts = parts
    parts.session.onCode = () => this.onCode(this.code)
    serving.onClosed = () => parts.close()
  }

  /** What players type: `IRON-7K3M`. */
  get code(): string {
    return this.#parts.session.own.code
  }

  /** What players open: the page of the game, with the code in it. */
  get link(): string {
    return this.#parts.session.own.link
  }

  /** Where a player of this machine joins, without the code. */
  get url(): string {
    return this.serving.url
  }

  /** Whether new players can join: the rendezvous is connected. */
  get isListening(): boolean {
    return this.#parts.session.isListening
  }

  /** Ends the match, for all players with the reason `host-left`, and the code. */
  async close(): Promise<void> {
    await this.serving.close()
  }
}

/** What a hosted match has besides a served one. */
export interface HostParts {
  readonly session: HostedSession
  /** 32 secret bytes. */
  readonly identity: Uint8Array
  readonly hosted: HostedPorts
  /** Ends the session. */
  close(): void
}

/** Makes a session at the rendezvous, and opens the port that its guests reach. */
export async function openHostParts(
  fingerprint: Uint8Array,
  options: Pick<HostOptions, 'rendezvous' | 'path' | 'strong' | 'udpPort' | 'security'> & { readonly capacity: number },
): Promise<HostParts> {
  const { path: mode = 'race', strong: isStrong = false, capacity } = options
  const base = parseServerUrl(String(options.rendezvous), (text) => new URL(text), ['https', 'http'])
  const isLocal = isLocalHost(base.hostname)
  const provider = options.security?.provider ?? bestProvider()
  const identity = Uint8Array.from(options.security?.identity ?? new Uint8Array(32))
  if (options.security?.identity === undefined) systemEntropy.fill(identity)
  const publicKey = bytesToHex(provider.importSigning(identity.slice()).publicKey)
  const session = await HostedSession.create({
    rendezvous: new Rendezvous(new URL('.', base).href, nodeRendezvous), isStrong, isLoopbackAllowed: isLocal,
    facts: { fingerprint: bytesToHex(fingerprint), identity: publicKey, capacity }, later: nodePlatform.later,
  })
  const { relays } = session.own
  const port = await openPeerPort({ relays, isLoopbackAnnounced: isLocal, port: options.udpPort ?? 0 })
  const rtc = HostRtc.open(relays, isLocal)
  const desk = new HostDesk(
    publicKey, pathsOf(port, rtc, mode, provider), (guest, signal) => session.send(guest, signal),
  )
  session.onSignal = (guest, signal) => desk.handle(guest, signal)
  port.onCandidates = () => desk.announce()
  port.onNetworkChange = () => session.renew()
  session.onBack = () => desk.announce()
  await port.readyOne()
  const close = (): void => {
    session.close()
    port.close()
    void rtc?.close()
  }
  return {
    session, identity, close,
    hosted: {
      closeCode: 'host-left',
      place: () => ({ code: session.own.code, rendezvous: new URL('.', base).href }),
      members: [{ prefix: '', port }, ...(rtc === undefined ? [] : [{ prefix: rtc.prefix, port: rtc.port }])],
    },
  }
}

function pathsOf(
  port: PeerUdpPort, rtc: HostRtc | undefined, mode: PathMode, provider: ReturnType<typeof bestProvider>,
): HostPaths {
  return {
    candidates: () => port.candidates(mode),
    introduce: (guest, { candidates, key: text }) => {
      const key = hexToBytes(text)
      if (key !== undefined) port.addPeer({ name: guest, candidates, key, provider, mode, isHost: false })
    },
    addCandidates: (guest, candidates) => port.addCandidates(guest, candidates),
    answer: async (guest, sdp) => (mode === 'relay-only' ? undefined : await rtc?.answer(guest, sdp)),
    forget: (guest) => port.paths.removePeer(guest),
  }
}
