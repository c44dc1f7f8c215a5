/**
 * One call joins a match.
 *
 * ```ts
 * const room = await connect(game, location.origin)
 * room.play({ input: () => ({ left: held.has('ArrowLeft') }), draw(view) { ... } })
 * ```
 */

import { createClientHost, type CloseReason, type Game, type Shape } from '../core/index.ts'
import { monotonicNow } from './clock.ts'
import { systemEntropy } from './entropy.ts'
import { Room } from './room.ts'
import { openWebSocket } from './websocket.ts'

/** A match that let nobody in, or us not. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError'
  readonly reason: CloseReason

  constructor(url: string, reason: CloseReason) {
    super(`Could not join the match at ${url}: ${explain(reason)}`)
    this.reason = reason
  }
}

/** Where on a server the match is, beside its page. */
const MATCH_PATH = '/tickwire'

/** Joins the match that is served at `url`. Rejects with a ConnectError that says why not. */
export async function connect<I extends Shape>(game: Game<I>, url: string | URL): Promise<Room<I>> {
  const address = new URL(MATCH_PATH, String(url).replace(/^http/, 'ws')).href
  const port = await openWebSocket(address).catch(() => {
    throw new ConnectError(address, { by: 'network', code: 'unreachable' })
  })
  return await new Promise((resolve, reject) => {
    let onClosed: (reason: CloseReason) => void = () => {}
    const closed = new Promise<CloseReason>((settle) => { onClosed = settle })
    const host = createClientHost(game, { entropy: systemEntropy, onOpened: () => resolve(room), onClosed })
    const room = new Room(host, port, host.connect(monotonicNow(), address), closed)
    void closed.then((reason) => reject(new ConnectError(address, reason)))
  })
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
    case 'flooding': return 'this page sent more than any page should.'
    case 'kicked': return 'the server sent us away.'
    case 'left': case 'shutdown': return 'it is over.'
    default: return reason satisfies never
  }
}
