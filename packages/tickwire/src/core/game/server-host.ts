/**
 * The authority of one match and its endpoint: runs `step`, and tells every player what he must know.
 *
 * It owns an endpoint but no socket and no clock. The pump is receive, tick, send:
 *
 *   host.handleDatagram(now, from, bytes, length)     whenever bytes come
 *   host.tick(now)                                    runs the ticks that are due
 *   host.drain(now, port)                             sends; returns when to call again at the latest
 *
 * Many matches behind one endpoint: `rooms/room-host.ts`.
 */

import type { Entropy } from '../base/entropy.ts'
import { PLAYERS_DEFAULT, SPECTATORS_DEFAULT } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { drain } from '../endpoint/drain.ts'
import { createEndpoint, type Endpoint, type EndpointEvent } from '../endpoint/endpoint.ts'
import type { ConnectRequest, Refusal } from '../endpoint/endpoint-config.ts'
import type { EndpointSecurity } from '../endpoint/endpoint-security.ts'
import type { OriginLimits } from '../endpoint/origin-limits.ts'
import type { Shape } from '../schema/field.ts'
import type { Game } from './define-game.ts'
import { Match, type MatchOptions } from './match.ts'
import { decodeJoin } from './rooms/join-body.ts'
import { encodeWelcome } from './welcome.ts'

export interface ServerHostOptions extends MatchOptions {
  readonly entropy: Entropy
  /** What packets are sealed with, who this server is, and whom it lets in. Default: sealed, unknown, everyone. */
  readonly security?: EndpointSecurity
  /** What one origin may ask. */
  readonly limits?: Partial<OriginLimits>
  /** How many may play at once. */
  readonly maxPlayers?: number
  /** How many may look on, beside those who play. */
  readonly maxSpectators?: number
  /** Has a say in who is let in, where there is a seat: says why not, or nothing. */
  readonly admit?: (request: ConnectRequest, role: 'player' | 'spectator') => Refusal | undefined
  /** Of all dice of the match, 32 bits. Default: drawn. */
  readonly seed?: number
}

/** Makes the authority of a match. */
export function createServerHost<I extends Shape>(game: Game<I>, options: ServerHostOptions): ServerHost<I> {
  return new ServerHost(game, options)
}

export class ServerHost<I extends Shape = Shape> extends Match<I> {
  readonly endpoint: Endpoint
  readonly #seats: { readonly player: number; readonly spectator: number }

  constructor(game: Game<I>, options: ServerHostOptions) {
    super(game, options.seed ?? drawSeed(options.entropy), options)
    const { maxPlayers = PLAYERS_DEFAULT, maxSpectators = SPECTATORS_DEFAULT } = options
    this.#seats = { player: maxPlayers, spectator: maxSpectators }
    this.endpoint = createEndpoint({
      fingerprint: game.fingerprint,
      tickRate: game.tickRate,
      entropy: options.entropy,
      timers: { keepaliveMs: game.net.heartbeatMs, timeoutMs: game.net.timeoutMs },
      maxConnections: this.role.name === 'local' ? 0 : maxPlayers + maxSpectators,
      ...(options.security && { security: options.security }),
      ...(options.limits && { limits: options.limits }),
      admit: (request) => {
        const role = roleOf(request.user)
        if (!this.#hasSeat(role, 1)) return 'full'
        return options.admit?.(request, role) ?? encodeWelcome({ peer: request.connection, seed: this.seed })
      },
      assemble: (connection) => this.attach(connection, { id: connection.id }, roleOf(connection.user) === 'spectator'),
    })
  }

  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    this.watch.handleDatagram(now, from, bytes, length)
    this.endpoint.handleDatagram(now, from, bytes, length)
  }

  handlePathClosed(address: string): void {
    this.endpoint.handlePathClosed(address)
  }

  /** Sends what is owed, and returns when to call `tick` and `drain` again at the latest. */
  drain(now: Millis, port: Pick<DatagramPort, 'send'>): Millis {
    this.receive(now)
    const wakeAt = drain(this.endpoint, now, this.watch.tap(now, port), (event) => this.#handleEvent(now, event))
    return Math.min(wakeAt, this.loop.nextAt())
  }

  /** Ends the match for everyone. Go on draining until `endpoint.connections` is empty. */
  close(now: Millis): void {
    this.endpoint.close(now)
  }

  /** Whether so many more of a role find a seat. */
  #hasSeat(role: 'player' | 'spectator', more: number): boolean {
    let taken = 0
    for (const { user } of this.endpoint.connections) if (roleOf(user) === role) taken++
    return taken + more <= this.#seats[role]
  }

  #handleEvent(now: Millis, event: EndpointEvent): void {
    // Two may have asked for the last seat at once.
    if (event.type === 'opened' && !this.#hasSeat(roleOf(event.connection.user), 0)) event.connection.close(now, 'kicked')
    else if (event.type === 'opened') this.enter(event.connection.id)
    else this.leave(event.connection.id, event.reason)
  }
}

/** What somebody asks to be. Who asks for nothing plays. */
function roleOf(user: Uint8Array): 'player' | 'spectator' {
  return user.length > 0 && decodeJoin(user)?.role === 'spectator' ? 'spectator' : 'player'
}

/** Four bytes of chance: the seed of a match's dice. */
export function drawSeed(entropy: Entropy): number {
  const bytes = new Uint8Array(4)
  entropy.fill(bytes)
  return (bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24) >>> 0
}
