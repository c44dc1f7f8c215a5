/** What can be set for a room server: the options of `serve` and `serveRooms`. */

import type { Server } from 'node:http'
import type { CodeFault } from '../core/base/user-code.ts'
import type { EndpointSecurity } from '../core/endpoint/endpoint-security.ts'
import type { Tracer } from '../core/base/tracing.ts'
import type { OriginLimits } from '../core/endpoint/origin-limits.ts'
import type { Match } from '../core/game/match.ts'
import type { RequestHandler } from './http-site.ts'
import type { LearnOptions } from './learning.ts'
import type { LoadWeather } from './load-weather.ts'
import type { PublishOptions, PublishTarget } from './publisher.ts'
import type { TransportOptions } from './serve-transports.ts'
import type { ServeLog } from './status-log.ts'
import type { OpsOptions } from './status-server.ts'

/** Options of `serve` and `serveRooms`. */
export interface RoomServerOptions extends TransportOptions {
  /** Default 4000; 0 selects any free port. */
  readonly port?: number
  /** The address to listen on. Default: all addresses of this machine. */
  readonly address?: string
  /**
   * An HTTP server that answers other requests itself, such as that of Express or Fastify. Tickwire answers its own
   * paths, which begin with `/tickwire`, and leaves the server open on `close`. If it does not listen yet, it does
   * afterwards. Default: a server of Tickwire's own, with limits on sockets and requests.
   */
  readonly server?: Server
  /**
   * Answers all requests that are not Tickwire's: an Express app, or a function of a request and a response. They have
   * the limits of Tickwire's server. Default: the files of `static`.
   */
  readonly handler?: RequestHandler
  /** A folder with the page, relative to the working directory. Without it, only the match is served. */
  readonly static?: string
  /**
   * The server's identity, and which clients it accepts. Packets are sealed with the fastest provider found. Default: a
   * random identity, and no tokens.
   */
  readonly security?: EndpointSecurity
  /** Limits per origin. Default: 5 connections, 10 handshakes and 50 challenges per second. */
  readonly limits?: Partial<OriginLimits>
  /** Pages of these origins may join in addition to the one served here: `['https://game.example']`. Default: none. */
  readonly origins?: readonly string[] | 'any'
  /** How long a player whose transport closed may take to migrate to another before it is dropped. Default 3 s. */
  readonly pathGraceMs?: number
  /** For development: simulated network conditions on every transport, in each direction. Default: none. */
  readonly weather?: LoadWeather
  /**
   * For development: a file to save rooms to when the process is signalled to end. The next process restores them if it
   * serves the same game. Players are not notified; they reconnect to their seats. With `workers`, each worker also
   * saves its rooms every two seconds, to a file of its own. Default: the environment variable TICKWIRE_KEEP_ROOMS,
   * which the plugin of `tickwire/vite` sets; without it, rooms end with the process.
   */
  readonly keepRooms?: string
  /**
   * Whether every tick is checked for mistakes in `step` that a match survives silently: NaN, values that do not fit,
   * unknown fields, Math.random, writes outside of `step`. Each is logged once, with the fix. It costs time. Default:
   * yes, unless the environment variable NODE_ENV is `production`.
   */
  readonly development?: boolean
  /** Whether it trains codec tables on its own matches, in a low-priority process, to send fewer bits. Default: no. */
  readonly learn?: LearnOptions | boolean
  /**
   * Spreads rooms over this many processes behind one port, 32 at most; 'auto' is one per processor core. Each process
   * runs this program from its start: up to `serve` or `serveRooms`, which returns only in the first process. A match
   * of `serve` runs in each worker. Callbacks of rooms run in the process of their room. Default: all rooms run in this
   * process.
   */
  readonly workers?: number | 'auto'
  /**
   * Lists the server at these trackers until it closes: `['https://games.example']`, or `{ trackers, name, region }`.
   * Players find it at their page `/games` and with `browse`. Default: it is not listed.
   */
  readonly publish?: PublishOptions | readonly (string | PublishTarget)[]
  /** The operator port: health, metrics, a status page. Default: on 127.0.0.1, two above the HTTP port. */
  readonly ops?: OpsOptions | false
  /** Whether SIGTERM and SIGINT end the process in an orderly way, with exit code 0. Default: yes. */
  readonly signals?: boolean
  /** How long players may play on after SIGTERM. Default 10 s. After SIGINT they are disconnected at once. */
  readonly drainMs?: number
  /**
   * Records how clients that come with a span reach their seats and first ticks, and logs each step with its trace id:
   * `openTraces` of `@tickwire/services`. Default: nothing is recorded.
   */
  readonly tracer?: Tracer
  /** Receives log entries for the operator. Default: warnings and errors, on the console. */
  readonly log?: ServeLog
  /** A callback of the game threw, in this room. Also logged. If `fault.isFatal`, the room has ended with `fault`. */
  readonly onError?: (fault: CodeFault, room: Match | undefined) => void
}
