/**
 * Joins a match with one call, over the best transport that the page can use.
 *
 * ```ts
 * const room = await connect(game, location.origin)
 * room.play({ input: () => ({ left: held.has('ArrowLeft') }), draw(view) { ... } })
 * ```
 */

import { ConfigError } from '../core/base/assert.ts'
import type { PortSource } from '../core/client/hosted-relay.ts'
import type { FleetPlace } from '../core/client/fleet-place.ts'
import { codeIn, type CodePlace } from '../core/client/join-code.ts'
import { joinRoom, type JoinOptions } from '../core/client/join-room.ts'
import type { JoinSpans } from '../core/client/join-spans.ts'
import type { LockstepOptions, LockstepPlace, LockstepRoom } from '../core/client/lockstep-room.ts'
import type { ServerSite } from '../core/client/platform.ts'
import { portSite } from '../core/client/port-site.ts'
import type { MeshParty } from '../core/client/mesh-gathering.ts'
import type { Room } from '../core/client/room.ts'
import { isLocalHost, parseServerUrl } from '../core/client/server-url.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import type { ClientParts } from '../core/game/client-host-options.ts'
import type { Game } from '../core/game/define-game.ts'
import type { LockstepGame } from '../core/lockstep/define-lockstep.ts'
import type { AnyOrder } from '../core/lockstep/order.ts'
import type { PathMode } from '../core/nat/candidates.ts'
import type { Shape } from '../core/schema/field.ts'
import { pageParts } from './client-parts.ts'
import { pageProvider } from './crypto.ts'
import { Ladder } from './ladder.ts'
import { hostRelay, joinMesh, openCodeRungs, openFleetRoute, openSpans, sourceLine } from './later.ts'
import { diagnose, RUNGS, type Rung } from './offers.ts'
import { meetingPlan } from './meeting-plan.ts'
import { lockstepChecks, pageChecks } from './page-checks.ts'
import { pagePlatform } from './page-platform.ts'
import { serverRungs } from './rungs.ts'

/** How a match is joined from a page. */
export interface ConnectOptions<J extends Shape = Shape, O extends Shape = Shape> extends JoinOptions<J, O> {
  /**
   * What packets are sealed with. Default: noble without AES. Use `pureProvider` of tickwire/engine if a token or a
   * server requires AES.
   */
  readonly provider?: CryptoProvider
  /**
   * For games with shared objects: `sharedAuthority` of tickwire. Pages of other games need not include it. Default:
   * none.
   */
  readonly authority?: ClientParts['createAuthority']
  /**
   * Whether a page that is not built for production checks every tick that it predicts, and warns on the console once
   * for each mistake: NaN, values that do not fit, unknown fields, Math.random. Bundlers leave the checks out of a page
   * for production. Default: yes.
   */
  readonly development?: boolean
  /** Transports that may be used. Default: all. */
  readonly transports?: readonly Rung[]
  /** Where the host of a code is found: the address of a rendezvous. Default: where this page came from. */
  readonly rendezvous?: string | URL
  /**
   * For a match that is joined by a code. `race`: by relay at first, directly as soon as that works. `relay-only` hides
   * the address of this machine. `direct-only` uses no relay. Default: `race`.
   */
  readonly path?: PathMode
}

/**
 * Joins the match that is served at `url` or by one server of a `fleet(url)`, or that a player hosts under a code
 * (`IRON-7K3M`, or a link with one), or in this page. It takes the seat of the previous page, if this one is a reload
 * and the seat is kept, otherwise the one that is asked for. Rejects with a ConnectError that says why.
 */
export async function connect<I extends Shape, J extends Shape, O extends Shape>(
  game: Game<I, J, O>,
  url: string | URL | PortSource | FleetPlace,
  options?: ConnectOptions<J, O>,
): Promise<Room<I>>
/**
 * Plays a lockstep match at a place of `tickwire/lockstep`: `local()`, `replay(match)`, `mesh(code)`, `hosting()` or
 * `relay(url)`.
 */
export async function connect<O extends readonly AnyOrder[]>(
  game: LockstepGame<O>,
  where: LockstepPlace,
  options?: LockstepOptions & Pick<ConnectOptions, 'provider' | 'transports' | 'rendezvous' | 'path'>,
): Promise<LockstepRoom<O>>
export async function connect(
  game: Game | LockstepGame,
  where: string | URL | PortSource | FleetPlace | LockstepPlace,
  options: ConnectOptions & LockstepOptions = {},
): Promise<Room | LockstepRoom> {
  const spans = options.tracer && await openSpans(options)
  const site = (place: string | URL | PortSource | FleetPlace): ServerSite =>
    siteOf(place, options, game.fingerprint, spans)
  if (typeof where === 'object' && 'enter' in where) {
    const { provider = pageProvider } = options
    const engine = navigator.userAgent
    const machine = {
      platform: pagePlatform, site, host: hostRelay, openPeerPort, provider, engine, sourceLine,
      joinMesh: (place: string, ms: number, signer: CryptoProvider) =>
        joinMeshAt(place, options, game.fingerprint, signer, ms),
      canSign: false,
    }
    const checks = options.development === false ? undefined : await lockstepChecks()
    const runner = { ...checks, ...options.runner }
    return await where.enter(game as LockstepGame, { ...options, runner }, machine)
  }
  const { development = true } = options
  const checks = options.checks ?? (development ? await pageChecks() : undefined)
  return await joinRoom(game as Game, site(where), { ...options, ...(checks && { checks }) }, pagePlatform)
}

async function openPeerPort(): Promise<never> {
  throw new ConfigError('mesh', 'a page has no address that others reach', 'use a code: mesh(code) or mesh(hosted).')
}

function joinMeshAt(
  where: string, options: ConnectOptions, fingerprint: Uint8Array, signer: CryptoProvider, ms: number,
): Promise<MeshParty> {
  const { code, page } = codeIn(where) ?? { code: where, page: undefined }
  const { rendezvous = page ?? location.href, path: mode = 'race' } = options
  return joinMesh(meetingPlan(rendezvous, mode, fingerprint), code, ms, signer)
}

function siteOf(
  where: string | URL | PortSource | FleetPlace, options: ConnectOptions, fingerprint: Uint8Array,
  spans: JoinSpans | undefined,
): ServerSite {
  const { provider = pageProvider, authority, transports = RUNGS } = options
  const parts = pageParts(provider, authority)
  if (typeof where === 'object' && 'open' in where) return { ...portSite(where), parts, spans }
  if (typeof where === 'object' && 'fleet' in where)
    return { ...fleetSite(where, transports, fingerprint, spans), parts, spans }
  const found = codeIn(String(where))
  if (found !== undefined) return { ...codeSite(found, options, provider, fingerprint, spans), parts, spans }
  const given = parseServerUrl(String(where), (text) => new URL(text), ['http', 'https', 'ws', 'wss'])
  const base = new URL(given.href.replace(/^ws/, 'http'))
  return {
    place: `${base.origin}${new URL('.', base).pathname}`.replace(/\/$/, ''),
    isLocal: isLocalHost(base.hostname),
    isSecure: base.protocol === 'https:',
    parts,
    spans,
    async open(query) {
      const ladder = new Ladder(serverRungs(base), transports, query)
      await ladder.open()
      return ladder
    },
    diagnose: () => diagnose(base),
  }
}

/** One of many servers. The route is kept for the way back, which may lead to another server. */
function fleetSite(
  { fleet: url, seat }: FleetPlace, transports: readonly Rung[], fingerprint: Uint8Array, spans: JoinSpans | undefined,
): Omit<ServerSite, 'parts'> {
  const base = parseServerUrl(url, (text) => new URL(text, location.href), ['https', 'http'])
  const route = openFleetRoute(new URL('.', base).href, fingerprint, seat, spans)
  return {
    place: base.href, isLocal: isLocalHost(base.hostname), isSecure: base.protocol === 'https:', isFleet: true,
    open: async (query, asked) => await (await route).open(asked, async (at) => {
      const ladder = new Ladder(serverRungs(new URL(at)), transports, query)
      await ladder.open()
      return ladder
    }),
    diagnose: () => Promise.resolve({ kind: 'down' }),
  }
}

/** A host that is known by a code. */
function codeSite(
  { code, page }: CodePlace, options: ConnectOptions, provider: CryptoProvider, fingerprint: Uint8Array,
  spans: JoinSpans | undefined,
): Omit<ServerSite, 'parts'> {
  const { rendezvous = page ?? location.href, path: mode = 'race', transports = RUNGS } = options
  const plan = { ...meetingPlan(rendezvous, mode, fingerprint), code, provider, spans }
  return {
    place: `${plan.base} ${code}`,
    // A code that is not known will not become known: no retries as in development.
    isLocal: false,
    isSecure: plan.base.startsWith('https:') || plan.isLocal,
    async open(query) {
      const rungs = transports.filter((rung) => rung !== 'webtransport')
      const ladder = new Ladder(await openCodeRungs(plan), rungs, query)
      await ladder.open()
      return ladder
    },
    diagnose: () => Promise.resolve({ kind: 'down' }),
  }
}
