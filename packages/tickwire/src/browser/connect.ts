/**
 * One call joins a match, over the best transport the page can have.
 *
 * ```ts
 * const room = await connect(game, location.origin)
 * room.play({ input: () => ({ left: held.has('ArrowLeft') }), draw(view) { ... } })
 * ```
 */

import { createClientHost, textToKey, textToToken, type CloseReason, type ConnectPass, type Game, type JoinRequest, type Shape } from '../core/index.ts'
import { monotonicNow } from './clock.ts'
import { systemEntropy } from './entropy.ts'
import { keepTicket, takeTicket } from './kept-ticket.ts'
import { Ladder } from './ladder.ts'
import { RUNGS, type Rung } from './offers.ts'
import { Room } from './room.ts'

/** How a match is joined. */
export interface ConnectOptions {
  /** What lets us in, from whoever issues tokens: its bytes or its text. */
  readonly token?: Uint8Array | string
  /**
   * The server's identity key, its bytes or its text, when no token names it. Without either, a page from https believes
   * what the server says of itself over https, and others believe anyone.
   */
  readonly server?: Uint8Array | string
  /** Transports that may be used; all of them unless said. */
  readonly transports?: readonly Rung[]
  /** Which room, where there are many: `{ room: id }`, `{ code }`, `{ quick: type, filter }`, `{ create: type }`. Default: any seat. */
  readonly join?: JoinRequest
  /** Whether a page that is reloaded comes back to its seat. Default: yes, unless `join` names another. */
  readonly keepSeat?: boolean
}

/** A match that let nobody in, or us not. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError'
  readonly reason: CloseReason

  constructor(url: string, reason: CloseReason, detail = '') {
    super(`Could not join the match at ${url}: ${explain(reason)}${detail === '' ? '' : ` (${detail})`}`)
    this.reason = reason
  }
}

/** What no token and no key is: refused where it is used, with the fix. */
const NO_BYTES = new Uint8Array(0)

/**
 * Joins the match that is served at `url`: in the seat of the page before, if this one is a reload and the seat is kept, otherwise in the
 * one that is asked for. Rejects with a ConnectError that says why not.
 */
export async function connect<I extends Shape>(game: Game<I>, url: string | URL, options: ConnectOptions = {}): Promise<Room<I>> {
  const { join: asked, keepSeat = true } = options
  const base = new URL(url)
  const place = keepSeat ? `${base.origin}${base.pathname} ${asked === undefined ? '' : JSON.stringify(asked)}` : undefined
  const ticket = place === undefined ? undefined : takeTicket(place)
  if (ticket !== undefined) {
    try {
      return await climb(game, base, options, { resume: ticket, ...(asked?.role && { role: asked.role }) }, place)
    } catch (error) {
      if (!(error instanceof ConnectError) || error.reason.code !== 'ticket') throw error
    }
  }
  return climb(game, base, options, asked, place)
}

async function climb<I extends Shape>(
  game: Game<I>, base: URL, options: ConnectOptions, asked: JoinRequest | undefined, place: string | undefined,
): Promise<Room<I>> {
  const ladder = new Ladder(base, options.transports ?? RUNGS)
  await ladder.open().catch((error: Error) => {
    throw new ConnectError(base.origin, { by: 'network', code: 'unreachable' }, error.message)
  })
  try {
    return await join(game, base, ladder, await passOf(options, base, ladder), asked, place)
  } catch (error) {
    ladder.close()
    throw error
  }
}

function join<I extends Shape>(
  game: Game<I>, base: URL, ladder: Ladder, pass: ConnectPass, asked: JoinRequest | undefined, place: string | undefined,
): Promise<Room<I>> {
  return new Promise((resolve, reject) => {
    let onClosed: (reason: CloseReason) => void = () => {}
    const closed = new Promise<CloseReason>((settle) => { onClosed = settle })
    const host = createClientHost(game, {
      entropy: systemEntropy,
      onOpened: () => {
        if (place !== undefined && host.seat !== undefined) {
          const settle = keepTicket(place, host.seat.ticket)
          void closed.then(({ by }) => settle(by === 'network'))
        }
        resolve(room)
      },
      onClosed,
    })
    const room = new Room(host, ladder, host.connect(monotonicNow(), ladder.address, pass, asked), closed)
    void closed.then((reason) => reject(new ConnectError(base.origin, reason)))
  })
}

/** Whom we mean to find, and what we show him. */
async function passOf({ token, server }: ConnectOptions, base: URL, ladder: Ladder): Promise<ConnectPass> {
  const isAsked = token === undefined && server === undefined && base.protocol === 'https:'
  const key = isAsked ? (await ladder.offers).identity : server
  return {
    ...(token !== undefined && { token: typeof token === 'string' ? textToToken(token) ?? NO_BYTES : token }),
    ...(key !== undefined && { server: typeof key === 'string' ? textToKey(key)?.key ?? NO_BYTES : key }),
  }
}

function explain(reason: CloseReason): string {
  switch (reason.code) {
    case 'schema': return 'this page and the server are of different builds. Reload the page.'
    case 'version': return 'this page and the server speak different versions of Tickwire. Reload the page.'
    case 'full': return 'all seats are taken. Try again later.'
    case 'refused': return 'the server refused.'
    case 'token': return 'the token is not good here: expired, used, or for another server.'
    case 'identity': return 'whoever answers there is not the server that was meant.'
    case 'unreachable': case 'timed-out': case 'path-closed': case 'reset': return 'nobody answers there. Is the server running?'
    case 'broken': return 'the server sent what makes no sense.'
    case 'kicked': case 'flooding': return 'the server sent us away.'
    case 'left': case 'shutdown': case 'ended': return 'it is over.'
    case 'no-room': return 'there is no such room.'
    case 'locked': return 'the room lets nobody in any more.'
    case 'ticket': return 'the seat is not kept any longer.'
    case 'fault': return 'the room has broken down.'
    case 'replaced': return 'it was joined from elsewhere.'
    default: return reason satisfies never
  }
}
