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
import { PLAYERS_DEFAULT } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { drain } from '../endpoint/drain.ts'
import { createEndpoint, type Endpoint, type EndpointEvent } from '../endpoint/endpoint.ts'
import type { EndpointSecurity } from '../endpoint/endpoint-security.ts'
import type { OriginLimits } from '../endpoint/origin-limits.ts'
import type { Shape } from '../schema/field.ts'
import type { Game } from './define-game.ts'
import { Match, type MatchOptions } from './match.ts'
import { encodeWelcome } from './welcome.ts'

export interface ServerHostOptions extends MatchOptions {
  readonly entropy: Entropy
  /** What packets are sealed with, who this server is, and whom it lets in. Default: sealed, unknown, everyone. */
  readonly security?: EndpointSecurity
  /** What one origin may ask. */
  readonly limits?: Partial<OriginLimits>
  /** How many may play at once. */
  readonly maxPlayers?: number
  /** Of all dice of the match, 32 bits. Default: drawn. */
  readonly seed?: number
}

/** Makes the authority of a match. */
export function createServerHost<I extends Shape>(game: Game<I>, options: ServerHostOptions): ServerHost<I> {
  return new ServerHost(game, options)
}

export class ServerHost<I extends Shape = Shape> extends Match<I> {
  readonly endpoint: Endpoint

  constructor(game: Game<I>, options: ServerHostOptions) {
    super(game, options.seed ?? drawSeed(options.entropy), options)
    this.endpoint = createEndpoint({
      fingerprint: game.fingerprint,
      tickRate: game.tickRate,
      entropy: options.entropy,
      timers: { keepaliveMs: game.net.heartbeatMs, timeoutMs: game.net.timeoutMs },
      maxConnections: this.role.name === 'local' ? 0 : options.maxPlayers ?? PLAYERS_DEFAULT,
      ...(options.security && { security: options.security }),
      ...(options.limits && { limits: options.limits }),
      admit: (request) => encodeWelcome({ peer: request.connection, seed: this.seed }),
      assemble: (connection) => this.attach(connection, { id: connection.id }),
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
    const wakeAt = drain(this.endpoint, now, this.watch.tap(now, port), (event) => this.#handleEvent(event))
    return Math.min(wakeAt, this.loop.nextAt())
  }

  /** Ends the match for everyone. Go on draining until `endpoint.connections` is empty. */
  close(now: Millis): void {
    this.endpoint.close(now)
  }

  #handleEvent(event: EndpointEvent): void {
    if (event.type === 'opened') this.enter(event.connection.id)
    else this.leave(event.connection.id, event.reason)
  }
}

/** Four bytes of chance: the seed of a match's dice. */
export function drawSeed(entropy: Entropy): number {
  const bytes = new Uint8Array(4)
  entropy.fill(bytes)
  return (bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24) >>> 0
}
