/**
 * One call joins a match, over the best transport the page can have.
 *
 * ```ts
 * const room = await connect(game, location.origin)
 * room.play({ input: () => ({ left: held.has('ArrowLeft') }), draw(view) { ... } })
 * ```
 */

import { textToKey, textToToken, type ClientParts, type ClientTrace, type ConnectPass, type CryptoProvider, type Game, type JoinRequest, type Shape } from '../core/index.ts'
import { checkGame } from '../core/game/define-game.ts'
import { pageParts } from './client-parts.ts'
import { ConnectError } from './connect-error.ts'
import { pageProvider } from './crypto.ts'
import { keepTicket, takeTicket } from './kept-ticket.ts'
import { Ladder } from './ladder.ts'
import { Line } from './line.ts'
import { RUNGS, type Rung } from './offers.ts'
import { Room } from './room.ts'

/** How a match is joined. */
export interface ConnectOptions {
  /**
   * What lets us in, from whoever issues tokens: its bytes or its text. A token is good once, so a page that is to come back to its seat by
   * itself says how it gets another: a function, asked for each time.
   */
  readonly token?: Uint8Array | string | (() => Promise<Uint8Array | string>)
  /**
   * The server's identity key, its bytes or its text, when no token names it. Without either, a page from https believes
   * what the server says of itself over https, and others believe anyone.
   */
  readonly server?: Uint8Array | string
  /** What packets are sealed with. Default: noble without AES; `pureProvider` of tickwire where a token or a server asks for AES. */
  readonly provider?: CryptoProvider
  /** For games with shared objects: `sharedAuthority` of tickwire. Pages of other games need not carry it. */
  readonly authority?: ClientParts['createAuthority']
  /** Transports that may be used; all of them unless said. */
  readonly transports?: readonly Rung[]
  /** Which room, where there are many: `{ room: id }`, `{ code }`, `{ quick: type, filter }`, `{ create: type }`. Default: any seat. */
  readonly join?: JoinRequest
  /**
   * For who looks for a bug: asked for what remembers everything that this page is handed, once for each line to the server, as in `() => (trace = new ClientTrace())`.
   * `replayTrace(game, trace.entries, { isPage: true })` plays it again, up to where another transport took over. It holds the keys of the session.
   */
  readonly trace?: () => ClientTrace
  /** Whether a page that is reloaded, or whose line was lost, comes back to its seat. Default: yes, unless `join` names another. */
  readonly keepSeat?: boolean
}

/** What no token and no key is: refused where it is used, with the fix. */
const NO_BYTES = new Uint8Array(0)

/**
 * Joins the match that is served at `url`: in the seat of the page before, if this one is a reload and the seat is kept, otherwise in the
 * one that is asked for. Rejects with a ConnectError that says why not.
 */
export async function connect<I extends Shape>(game: Game<I>, url: string | URL, options: ConnectOptions = {}): Promise<Room<I>> {
  checkGame(game)
  const { join: asked, keepSeat = true } = options
  const base = new URL(url)
  const place = keepSeat ? `${base.origin}${base.pathname} ${asked === undefined ? '' : JSON.stringify(asked)}` : undefined
  const resume = async (ticket: Uint8Array): Promise<Line<I>> => {
    const line = await climb(game, base, options, { resume: ticket, ...(asked?.role && { role: asked.role }) })
    return place === undefined ? line : keepSeatOf(line, place)
  }
  const ticket = place === undefined ? undefined : takeTicket(place)
  if (place === undefined) return new Room(await climb(game, base, options, asked), undefined)
  if (ticket !== undefined) {
    try {
      return new Room(await resume(ticket), resume)
    } catch (error) {
      if (!(error instanceof ConnectError) || error.reason.code !== 'ticket') throw error
    }
  }
  return new Room(keepSeatOf(await climb(game, base, options, asked), place), resume)
}

/** Sees to it that whoever comes after this page finds the ticket. */
function keepSeatOf<I extends Shape>(line: Line<I>, place: string): Line<I> {
  if (line.host.seat === undefined) return line
  // What was kept before is used up.
  takeTicket(place)
  const settle = keepTicket(place, line.host.seat.ticket)
  void line.closed.then(({ by }) => settle(by === 'network'))
  return line
}

/** A line that is open. */
async function climb<I extends Shape>(game: Game<I>, base: URL, options: ConnectOptions, asked: JoinRequest | undefined): Promise<Line<I>> {
  const ladder = new Ladder(base, options.transports ?? RUNGS)
  await ladder.open().catch((error: Error) => {
    throw new ConnectError(base.origin, { by: 'network', code: 'unreachable' }, error.message)
  })
  try {
    const pass = await passOf(options, base, ladder)
    const line = new Line(game, pageParts(options.provider ?? pageProvider, options.authority), ladder, pass, asked, options.trace?.())
    const reason = await Promise.race([line.opened, line.closed])
    if (reason !== undefined) throw new ConnectError(base.origin, reason)
    return line
  } catch (error) {
    ladder.close()
    throw error
  }
}

/** Whom we mean to find, and what we show him. */
async function passOf({ token: given, server }: ConnectOptions, base: URL, ladder: Ladder): Promise<ConnectPass> {
  const isAsked = given === undefined && server === undefined && base.protocol === 'https:'
  const key = isAsked ? (await ladder.offers).identity : server
  const token = typeof given === 'function' ? await given() : given
  return {
    ...(token !== undefined && { token: typeof token === 'string' ? textToToken(token) ?? NO_BYTES : token }),
    ...(key !== undefined && { server: typeof key === 'string' ? textToKey(key)?.key ?? NO_BYTES : key }),
  }
}
