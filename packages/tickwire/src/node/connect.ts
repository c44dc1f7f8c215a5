/**
 * Joins a match from Node with one call: a bot, a load test, a bridge to another service. The room is the same as that
 * of a page, with the same errors.
 *
 * ```ts
 * const room = await connect(game, 'udp://localhost:4001')
 * room.play({ input: () => ({ right: room.view.tick % 60 < 30 }) })
 * ```
 */

import { ConfigError } from '../core/base/assert.ts'
import type { HostedRelay, HostingOptions, PortSource } from '../core/client/hosted-relay.ts'
import type { FleetPlace } from '../core/client/fleet-place.ts'
import { FleetClient, FleetRoute } from '../core/client/fleet.ts'
import { codeIn, type CodePlace } from '../core/client/join-code.ts'
import { joinRoom, type JoinOptions } from '../core/client/join-room.ts'
import { JoinSpans } from '../core/client/join-spans.ts'
import type { LockstepOptions, LockstepPlace, LockstepRoom, PeerPort } from '../core/client/lockstep-room.ts'
import type { Diagnosis, ServerSite } from '../core/client/platform.ts'
import { portSite } from '../core/client/port-site.ts'
import { Rendezvous } from '../core/client/rendezvous.ts'
import type { MeshParty } from '../core/client/mesh-gathering.ts'
import type { Room } from '../core/client/room.ts'
import { isLocalHost, parseServerUrl } from '../core/client/server-url.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import type { Game } from '../core/game/define-game.ts'
import type { LockstepGame } from '../core/lockstep/define-lockstep.ts'
import type { AnyOrder } from '../core/lockstep/order.ts'
import type { Millis } from '../core/base/time.ts'
import type { LockstepCard } from '../core/order/lockstep-card.ts'
import type { PathMode } from '../core/nat/candidates.ts'
import { bytesToHex } from '../core/nat/hex.ts'
import type { Shape } from '../core/schema/field.ts'
import { openCodeLink } from './code-link.ts'
import { compileRows } from './compile-rows.ts'
import { bestProvider } from './crypto.ts'
import { nodeFleet } from './fleet-machine.ts'
import { type JsonAnswer, requestJson } from './json-request.ts'
import { clientChecks, lockstepChecks } from './development.ts'
import { nodeParts, nodePlatform } from './node-platform.ts'
import { nodeRendezvous } from './rendezvous-machine.ts'
import { INFO_PATH, MATCH_PATH, type ServerInfo } from './serve-routes.ts'
import { SingleLink } from '../core/client/single-link.ts'
import { openUdp, resolveUdp } from './udp.ts'
import { openWebSocket } from './websocket.ts'

/** How a match is joined from Node. */
export interface ConnectOptions<J extends Shape = Shape, O extends Shape = Shape> extends JoinOptions<J, O> {
  /** What packets are sealed with. Default: the fastest that is installed. */
  readonly provider?: CryptoProvider
  /**
   * Whether every tick that the client predicts is checked, with a warning on the console for each mistake: NaN, values
   * that do not fit, unknown fields, Math.random. Default: unless NODE_ENV is `production`.
   */
  readonly development?: boolean
  /** Where the host of a code is found: the address of a rendezvous. Default: the page that a link leads to. */
  readonly rendezvous?: string | URL
  /**
   * For a match that is joined by a code. `race`: by relay at first, directly as soon as that works. `relay-only` hides
   * the address of this machine. `direct-only` uses no relay. Default: `race`.
   */
  readonly path?: PathMode
  /** With an http or https URL: 'udp' asks the server for its port of native UDP. Default: WebSocket. */
  readonly transport?: 'websocket' | 'udp'
}

const SCHEMES = ['udp', 'ws', 'wss', 'http', 'https'] as const
const ASK_MS = 2000

/**
 * Joins the match at `url`: `udp://host:port` by native UDP, `ws://`, `wss://`, `http://` or `https://` by WebSocket,
 * or by the `transport` of the options; `fleet(url)` for one of many servers; a code such as `IRON-7K3M` or a link,
 * through a rendezvous, directly or by relay. Rejects with a ConnectError that says why.
 */
export async function connect<I extends Shape, J extends Shape, O extends Shape>(
  game: Game<I, J, O>,
  url: string | URL | FleetPlace,
  options?: ConnectOptions<J, O>,
): Promise<Room<I>>
/**
 * Plays a lockstep match at a place of `tickwire/lockstep`: `local()`, `replay(match)`, `mesh(peers)`, `hosting()` or
 * `relay(url)`.
 */
export async function connect<O extends readonly AnyOrder[]>(
  game: LockstepGame<O>,
  where: LockstepPlace,
  options?: LockstepOptions & Pick<ConnectOptions, 'provider' | 'rendezvous' | 'path'>,
): Promise<LockstepRoom<O>>
export async function connect(
  game: Game | LockstepGame,
  where: string | URL | FleetPlace | LockstepPlace,
  options: ConnectOptions & LockstepOptions = {},
): Promise<Room | LockstepRoom> {
  const spans = JoinSpans.of(options)
  const site = (place: string | URL | PortSource | FleetPlace): ServerSite =>
    siteOf(place, options, game.fingerprint, spans)
  if (typeof where === 'object' && 'enter' in where) {
    const { provider = bestProvider() } = options
    const engine = `Node ${process.version}`
    const machine = {
      platform: nodePlatform, site, host: hostRelay, openPeerPort, provider, engine,
      joinMesh: (where: string, ms: Millis) => joinMesh(game.fingerprint, where, options, provider, ms),
    }
    const runner = { ...lockstepChecks(options), ...options.runner }
    return await where.enter(game as LockstepGame, { ...options, runner }, machine)
  }
  const room = await joinRoom(game as Game, site(where), { ...clientChecks(options), ...options }, nodePlatform)
  ;(game as Game).compile(compileRows)
  return room
}

function siteOf(
  where: string | URL | PortSource | FleetPlace, options: ConnectOptions, fingerprint: Uint8Array,
  spans: JoinSpans | undefined,
): ServerSite {
  const { provider = bestProvider(), transport } = options
  const parts = nodeParts(provider)
  if (typeof where === 'object' && 'open' in where) return { ...portSite(where), parts, spans }
  const found = typeof where === 'object' && 'fleet' in where ? undefined : codeIn(String(where))
  if (found !== undefined) return { ...codeSite(found, options, provider, fingerprint, spans), parts, spans }
  if (typeof where === 'object' && 'fleet' in where)
    return { ...fleetSite(where, transport, fingerprint, spans), parts, spans }
  const base = parseServerUrl(String(where), (text) => new URL(text), SCHEMES)
  const web = new URL(base.href.replace(/^ws/, 'http'))
  const site = base.protocol === 'udp:' ? udpSite(base) : webSite(web, transport)
  return { ...site, isLocal: isLocalHost(base.hostname), parts, spans }
}

/** Loaded when it is needed: a bot need not load a server. */
async function hostRelay(card: LockstepCard, options: HostingOptions): Promise<HostedRelay> {
  const { openHostedRelay } = await import('./hosted-relay.ts')
  return await openHostedRelay(card, options)
}

/** One of many servers. */
function fleetSite(
  { fleet: url, seat }: FleetPlace, transport: ConnectOptions['transport'], fingerprint: Uint8Array,
  spans: JoinSpans | undefined,
): Omit<ServerSite, 'parts'> {
  const base = parseServerUrl(url, (text) => new URL(text), ['https', 'http'])
  const route = new FleetRoute(new FleetClient(new URL('.', base).href, fingerprint, nodeFleet, spans), seat)
  const isSecure = base.protocol === 'https:'
  return {
    place: base.href, isLocal: isLocalHost(base.hostname), isSecure, isFleet: true,
    open: (query, asked) => route.open(asked, (at) => webSite(new URL(at), transport).open(query)),
    diagnose: () => Promise.resolve({ kind: 'down' }),
  }
}

/** Loaded when it is needed: most players join a relay. */
async function joinMesh(
  fingerprint: Uint8Array, where: string, options: ConnectOptions, provider: CryptoProvider, ms: Millis,
): Promise<MeshParty> {
  const { code, page } = codeIn(where) ?? { code: where, page: undefined }
  const { rendezvous: given = page, path = 'race' } = options
  const { meshMachine } = await import('./mesh-machine.ts')
  const { joinMesh: join } = await import('../core/client/mesh-code.ts')
  return await join(meshMachine(fingerprint, given ?? noRendezvous(code), path), code, ms, provider)
}

function noRendezvous(code: string): never {
  const fix = "pass { rendezvous: 'https://…' }, or a whole link."
  throw new ConfigError('connect.rendezvous', `missing, and ${code} is a code`, fix)
}

/** A host that is known by a code. */
function codeSite(
  { code, page }: CodePlace, options: ConnectOptions, provider: CryptoProvider, fingerprint: Uint8Array,
  spans: JoinSpans | undefined,
): Omit<ServerSite, 'parts'> {
  const { rendezvous: given = page, path: mode = 'race' } = options
  const base = parseServerUrl(String(given ?? noRendezvous(code)), (text) => new URL(text), ['https', 'http'])
  const isLocal = isLocalHost(base.hostname)
  const rendezvous = new Rendezvous(new URL('.', base).href, nodeRendezvous, spans)
  return {
    place: `${rendezvous.base} ${code}`,
    // A code that is not known will not become known: no retries as in development.
    isLocal: false,
    isSecure: base.protocol === 'https:' || isLocal,
    open: () => openCodeLink({ rendezvous, code, fingerprint: bytesToHex(fingerprint), mode, provider, isLocal }),
    diagnose: () => Promise.resolve({ kind: 'down' }),
  }
}

async function openUdpLink(
  hostname: string,
  port: number,
  identity: () => Promise<string | undefined>,
): Promise<SingleLink> {
  const address = await resolveUdp(hostname.replace(/^\[|\]$/g, ''), port)
  return new SingleLink('udp', await openUdp(), address, identity)
}

/** `own` and `others` are `udp://host:port`. */
async function openPeerPort(own: string, others: readonly string[]): Promise<PeerPort> {
  const parse = (url: string): URL => parseServerUrl(url, (text) => new URL(text), ['udp'])
  const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')
  const { port, hostname } = parse(own)
  const socket = await openUdp({ port: Number(port), address: hostOf({ hostname } as URL) })
  const addresses = await Promise.all(others.map(async (url) => {
    const other = parse(url)
    return await resolveUdp(hostOf(other), Number(other.port))
  }))
  return { port: socket, addresses }
}

type Site = Pick<ServerSite, 'place' | 'isSecure' | 'open' | 'diagnose'>

function udpSite({ hostname, port }: URL): Site {
  const number = Number(port)
  return {
    place: `udp://${hostname}:${port}`,
    isSecure: false,
    open: () => openUdpLink(hostname, number, () => Promise.resolve(undefined)),
    // Nothing else can be asked about a UDP port.
    diagnose: () => Promise.resolve({ kind: 'down' }),
  }
}

function webSite(base: URL, transport: ConnectOptions['transport']): Site {
  const ask = async (query: string): Promise<JsonAnswer> =>
    await requestJson(new URL(`${INFO_PATH.slice(1)}?${query}`, base).href, { method: 'GET', ms: ASK_MS })
  return {
    place: `${base.origin}${new URL('.', base).pathname}`.replace(/\/$/, ''),
    isSecure: base.protocol === 'https:',
    async open(query) {
      const read = async (): Promise<Partial<ServerInfo>> => infoIn(await ask(query))
      const identity = async (): Promise<string | undefined> => (await read()).identity
      if (transport === 'udp') {
        const { udp, missing } = await read()
        if (udp === undefined) throw new Error(`udp: ${missing?.udp ?? 'the server does not offer it'}`)
        return await openUdpLink(base.hostname, udp.port, identity)
      }
      const address = new URL(`${MATCH_PATH.slice(1)}?${query}`, base).href.replace(/^http/, 'ws')
      return new SingleLink('websocket', await openWebSocket(address), address, identity)
    },
    async diagnose(): Promise<Diagnosis> {
      try {
        const answer = await ask('')
        const info = infoIn(answer)
        if (info.websocket !== undefined) return { kind: 'server', upMs: info.upMs ?? 0 }
        return { kind: answer.status >= 500 ? 'down' : 'other-service' }
      } catch {
        return { kind: 'down' }
      }
    },
  }
}

function infoIn({ body }: JsonAnswer): Partial<ServerInfo> {
  return typeof body === 'object' && body !== null ? body : {}
}
