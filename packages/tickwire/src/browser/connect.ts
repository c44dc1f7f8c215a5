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
import { joinRoom, type JoinOptions } from '../core/client/join-room.ts'
import type { LockstepOptions, LockstepPlace, LockstepRoom } from '../core/client/lockstep-room.ts'
import type { ServerSite } from '../core/client/platform.ts'
import { portSite } from '../core/client/port-site.ts'
import type { Room } from '../core/client/room.ts'
import { isLocalHost, parseServerUrl } from '../core/client/server-url.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import type { ClientParts } from '../core/game/client-host-options.ts'
import type { Game } from '../core/game/define-game.ts'
import type { LockstepGame } from '../core/lockstep/define-lockstep.ts'
import type { AnyOrder } from '../core/lockstep/order.ts'
import type { Shape } from '../core/schema/field.ts'
import { pageParts } from './client-parts.ts'
import { pageProvider } from './crypto.ts'
import { hostRelay } from './hosted-relay.ts'
import { Ladder } from './ladder.ts'
import { diagnose, RUNGS, type Rung } from './offers.ts'
import { pageChecks, pageTraps } from './page-checks.ts'
import { pagePlatform } from './page-platform.ts'
import { sourceLine } from './source-line.ts'

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
}

/**
 * Joins the match that is served at `url`: in the seat of the previous page, if this one is a reload and the seat is
 * kept, otherwise in the one that is asked for. Rejects with a ConnectError that says why.
 */
export async function connect<I extends Shape, J extends Shape, O extends Shape>(
  game: Game<I, J, O>,
  url: string | URL,
  options?: ConnectOptions<J, O>,
): Promise<Room<I>>
/**
 * Plays a lockstep match at a place of `tickwire/lockstep`: `local()`, `replay(match)`, `hosting()` or `relay(url)`.
 */
export async function connect<O extends readonly AnyOrder[]>(
  game: LockstepGame<O>,
  where: LockstepPlace,
  options?: LockstepOptions & Pick<ConnectOptions, 'provider' | 'transports'>,
): Promise<LockstepRoom<O>>
export async function connect(
  game: Game | LockstepGame,
  where: string | URL | LockstepPlace,
  options: ConnectOptions & LockstepOptions = {},
): Promise<Room | LockstepRoom> {
  if (typeof where === 'object' && 'enter' in where) {
    const site = (place: string | PortSource): ServerSite => siteOf(place, options)
    const { provider = pageProvider } = options
    const engine = navigator.userAgent
    const machine = { platform: pagePlatform, site, host: hostRelay, openPeerPort, provider, engine, sourceLine }
    const traps = options.development === false ? undefined : await pageTraps()
    const runner = { ...traps, ...options.runner }
    return await where.enter(game as LockstepGame, { ...options, runner }, machine)
  }
  const { development = true } = options
  const checks = options.checks ?? (development ? await pageChecks() : undefined)
  return await joinRoom(game as Game, siteOf(where, options), { ...options, ...(checks && { checks }) }, pagePlatform)
}

async function openPeerPort(): Promise<never> {
  throw new ConfigError('mesh', 'a page has no address that others reach', 'use hosting() or relay(url) in pages.')
}

function siteOf(where: string | URL | PortSource, options: ConnectOptions): ServerSite {
  const { provider = pageProvider, authority, transports = RUNGS } = options
  const parts = pageParts(provider, authority)
  if (typeof where === 'object' && 'open' in where) return { ...portSite(where), parts }
  const given = parseServerUrl(String(where), (text) => new URL(text), ['http', 'https', 'ws', 'wss'])
  const base = new URL(given.href.replace(/^ws/, 'http'))
  return {
    place: `${base.origin}${new URL('.', base).pathname}`.replace(/\/$/, ''),
    isLocal: isLocalHost(base.hostname),
    isSecure: base.protocol === 'https:',
    parts,
    async open(query) {
      const ladder = new Ladder(base, transports, query)
      await ladder.open()
      return ladder
    },
    diagnose: () => diagnose(base),
  }
}
