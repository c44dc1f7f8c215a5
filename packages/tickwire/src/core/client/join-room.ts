/**
 * Joins a match: in the seat of the program before, if this one is a reload and the seat is kept, otherwise in the seat
 * that is requested. `connect` does this in a page and in Node, apart from addresses and transports.
 */

import type { Millis } from '../base/time.ts'
import { textToBytes, textToKey } from '../crypto/token-text.ts'
import type { ConnectPass } from '../endpoint/endpoint.ts'
import type { ClientHostOptions } from '../game/client-host-options.ts'
import type { ClientTrace } from '../game/client-trace.ts'
import { checkGame, type Game } from '../game/define-game.ts'
import type { JoinRequest } from '../rooms/join-body.ts'
import { encodePlaceRequest } from '../rooms/room-place.ts'
import type { Shape } from '../schema/field.ts'
import type { InitOf } from '../schema/value-types.ts'
import type { ClientLink } from './client-link.ts'
import { retryFor } from './comeback.ts'
import { ConnectError } from './connect-error.ts'
import type { JoinTracing } from './join-spans.ts'
import { Line } from './line.ts'
import type { ClientPlatform, SeatStore, ServerSite } from './platform.ts'
import type { Return } from './line-keeper.ts'
import { Room } from './room.ts'

/** How a match is joined, in a page and in Node. */
export interface JoinOptions<J extends Shape = Shape, O extends Shape = Shape>
  extends Pick<ClientHostOptions, 'syncTest' | 'onSyncFault' | 'checks'>, JoinTracing {
  /**
   * The join data of the game (`join` of `defineGame`), such as the name of the player. Default: its initial values.
   */
  readonly data?: InitOf<J>
  /**
   * A token from the token issuer, as bytes or text. A token is valid once, so a client that should reconnect to its
   * seat by itself passes a function that fetches a new token each time. In a join with a `tracer`, the function gets
   * the header `traceparent` for its request. Default: none.
   */
  readonly token?: Uint8Array | string | ((traceparent?: string) => Promise<Uint8Array | string>)
  /**
   * The server's identity key, as bytes or text, if no token names it. Without either, a client that connects by https
   * trusts the identity that the server states over https, and other clients trust any server.
   */
  readonly server?: Uint8Array | string
  /**
   * Which room, on a server with many: `{ room: id }`, `{ code }`, `{ quick: type, filter }`, `{ create: type, options,
   * password }`. Default: any seat.
   */
  readonly join?: JoinRequest<InitOf<O>>
  /**
   * How long to try again, in milliseconds, while no server answers. Default: 10,000 if the server is on this machine,
   * as in development, otherwise 0.
   */
  readonly retryMs?: Millis
  /**
   * For debugging: called once per connection to the server, and returns the trace that records everything the client
   * receives, as in `() => (trace = new ClientTrace())`. `replayTrace(game, trace.entries, { isPage: true })` replays
   * it, up to the first change of transport. A trace contains the keys of the session. Default: no trace.
   */
  readonly trace?: () => ClientTrace
  /**
   * Whether the client returns to its seat after a reload or a lost connection, or to a new seat if the old one is
   * gone. Default: yes.
   */
  readonly keepSeat?: boolean
}

/** In development the server restarts after every change, which takes seconds. */
const RETRY_MS_LOCAL = 10_000
/** Stands for an invalid token or key. It is refused where it is used, with the fix. */
const NO_BYTES = new Uint8Array(0)

/** Joins the match at `site`. Rejects with a ConnectError that says why. */
export async function joinRoom<I extends Shape, J extends Shape, O extends Shape>(
  game: Game<I, J, O>,
  site: ServerSite,
  options: JoinOptions<J, O>,
  platform: ClientPlatform,
): Promise<Room<I>> {
  checkGame(game)
  const { join: asked, keepSeat = true, retryMs = site.isLocal || site.isFleet ? RETRY_MS_LOCAL : 0 } = options
  const keeper = new SeatKeeper(seatName(site.place, asked), keepSeat ? platform.seats : undefined)
  const open = async (join: JoinRequest | undefined): Promise<Line<I>> =>
    keeper.keep(await openLine(game as unknown as Game<I>, site, options as JoinOptions, platform, join))
  const resume = (ticket: Uint8Array): Promise<Line<I>> =>
    open({ resume: ticket, ...(asked?.role && { role: asked.role }) })
  const kept = keeper.take()
  const back: Return<I> | undefined = keepSeat ? { resume, rejoin: (room) => open(against(asked, room)) } : undefined
  const attempt = async (): Promise<Line<I>> => {
    if (kept === undefined) return await open(asked)
    try {
      return await resume(kept)
    } catch (error) {
      if (!(error instanceof ConnectError) || error.code !== 'ticket') throw error
      return await open(asked)
    }
  }
  const line = retryFor(retryMs, attempt, platform)
  site.spans?.watch(line)
  return new Room(await line, back, platform)
}

/** What a client asks for when its seat is gone: the same again, but the room that it created before, not another. */
function against(asked: JoinRequest | undefined, room: string): JoinRequest | undefined {
  if (asked === undefined || !('create' in asked)) return asked
  const { role, password } = asked
  return { room, ...(role && { role }), ...(password !== undefined && { password }) }
}

/** The name that a ticket is stored under, which a page writes to its storage: without the password. */
export function seatName(place: string, asked: JoinRequest | undefined): string {
  const withoutSecrets = (key: string, value: unknown): unknown =>
    key === 'password' ? undefined : typeof value === 'bigint' ? String(value) : value
  return `${place} ${asked === undefined ? '' : JSON.stringify(asked, withoutSecrets)}`
}

/** Keeps the newest ticket for the program that follows this one. */
class SeatKeeper {
  readonly #place: string
  readonly #seats: SeatStore | undefined
  #settle: (isLost: boolean) => void = () => {}

  constructor(place: string, seats: SeatStore | undefined) {
    this.#place = place
    this.#seats = seats
  }

  take(): Uint8Array | undefined {
    return this.#seats?.take(this.#place)
  }

  keep<I extends Shape>(line: Line<I>): Line<I> {
    if (line.host.seat === undefined || this.#seats === undefined) return line
    // The previous ticket is used up.
    this.#settle(false)
    this.take()
    const settle = this.#seats.keep(this.#place, line.host.seat.ticket)
    this.#settle = settle
    line.onLeave = () => this.#end(settle, false)
    void line.closed.then(({ by, code }) => this.#end(settle, by === 'network' || code === 'moved'))
    return line
  }

  /** The line of a ticket has ended. If a newer ticket is kept, or the player has left, that stays as it is. */
  #end(settle: (isLost: boolean) => void, isLost: boolean): void {
    if (this.#settle !== settle) return
    this.#settle = () => {}
    settle(isLost)
  }
}

async function openLine<I extends Shape>(
  game: Game<I>,
  site: ServerSite,
  options: JoinOptions,
  platform: ClientPlatform,
  asked: JoinRequest | undefined,
): Promise<Line<I>> {
  const { spans } = site
  spans?.begin('open')
  const link = await site.open(encodePlaceRequest(asked, drawVisit(platform)), asked).catch(async (error: Error) => {
    if (error instanceof ConnectError) throw error
    const found = await site.diagnose()
    throw new ConnectError(site.place, { by: 'network', code: 'unreachable' }, {
      // The transports of a server that is down, or that is another service, are not the problem.
      ...(found.kind === 'server' && { detail: error.message }),
      found,
    })
  })
  try {
    // A client that resumes its seat has joined before.
    const isNew = asked === undefined || !('resume' in asked)
    const data = isNew ? game.joinCodec.encode(options.data) : NO_BYTES
    const pass = { ...(await passOf(options, site, link)), data }
    const line = new Line(game, site, platform, link, pass, spans?.ask(asked) ?? asked, options)
    const reason = await Promise.race([line.opened, line.closed])
    if (reason === undefined) {
      spans?.watchState(line)
      return line
    }
    const isAsked = reason.code === 'schema' || reason.code === 'version' || reason.by === 'network'
    const found = isAsked ? await site.diagnose() : undefined
    throw new ConnectError(site.place, reason, { ageMs: platform.ageMs(), ...(found && { found }) })
  } catch (error) {
    link.close()
    throw error
  }
}

/** A random name, so that all transports of one client lead to one process of the server. */
function drawVisit({ entropy }: ClientPlatform): string {
  const bytes = new Uint8Array(8)
  entropy.fill(bytes)
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A client without a network cannot fetch a token: it retries, as after any other outage. */
async function askToken(
  ask: (traceparent?: string) => Promise<Uint8Array | string>, { place, spans }: ServerSite,
): Promise<Uint8Array | string> {
  try {
    return await ask(spans?.traceparent)
  } catch (error) {
    const detail = `\`token\` threw: ${String(error)}`
    throw new ConnectError(place, { by: 'network', code: 'unreachable' }, { detail })
  }
}

/** The server identity to expect, and the token to send. */
export async function passOf(
  { token: given, server }: Pick<JoinOptions, 'token' | 'server'>, site: ServerSite, link: ClientLink,
): Promise<ConnectPass> {
  const isAsked = given === undefined && server === undefined && link.token === undefined && site.isSecure
  const key = isAsked ? await link.identity() : server
  const own = typeof given === 'function' ? await askToken(given, site) : given
  const token = own ?? link.token
  return {
    ...(token !== undefined && { token: typeof token === 'string' ? textToBytes(token) ?? NO_BYTES : token }),
    ...(key !== undefined && { server: typeof key === 'string' ? textToKey(key)?.key ?? NO_BYTES : key }),
  }
}
