/**
 * Opens a room server: the HTTP port, the transports, and the routes that pages ask.
 */

import { ConfigError } from '../core/base/assert.ts'
import { checkCertificate } from './certificate.ts'
import { openHttpSite } from './http-site.ts'
import { PORT_DEFAULT, portOf } from './listen.ts'
import type { RoomServer, RoomServerParts } from './room-server.ts'
import type { RoomServerOptions } from './room-server-options.ts'
import { isOwnPath, ServeRoutes } from './serve-routes.ts'
import { openTransports, type OpenTransports } from './serve-transports.ts'
import { limitLines, plainLog, type ServeLog } from './status-log.ts'

/**
 * Listens, opens the transports, calls `build`. Throws ConfigError if a port is taken or a requested transport fails.
 */
export async function openRoomServer<S extends RoomServer>(
  options: RoomServerOptions,
  build: (parts: RoomServerParts) => S,
): Promise<S> {
  const { port = PORT_DEFAULT, tls } = options
  const log = limitLines(guardLog(options.log ?? plainLog()))
  if (tls !== undefined) checkCertificate('tls', tls)
  checkPort(port)
  const { limits: { areLocalExempt = true } = {} } = options
  let routes: ServeRoutes | undefined
  let served: S | undefined
  const site = await openHttpSite(options, port, log, (request, response) => {
    if (routes !== undefined) return served?.handleOwn(request, response) === true || routes.handle(request, response)
    if (isOwnPath(request)) response.writeHead(503).end()
    return isOwnPath(request)
  })
  const { server } = site
  let transports: OpenTransports | undefined
  try {
    const bound = portOf(server, port)
    transports = await openTransports(server, bound, options, log)
    const built = build({ site, transports, options, log })
    served = built
    routes = new ServeRoutes({
      origins: options.origins ?? [],
      areLocalExempt,
      info: () => built.info,
      rooms: (filter) => built.rooms.list(filter),
      game: (type) => built.gameOf(type),
      onRefused: (why, from) => built.refusals.note(why, from),
      ...(transports.answer && { answer: transports.answer }),
    })
    if (options.ops !== false) await built.openOps(options.ops ?? {}, port === 0 ? 0 : bound + 2)
    built.publish(options.publish)
    return built
  } catch (error) {
    for (const { port: opened } of transports?.members ?? []) opened.close()
    await transports?.close()
    await site.close()
    throw error
  }
}

/** Throws ConfigError when it is not a port. */
export function checkPort(port: number): void {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return
  throw new ConfigError('port', `invalid port (got ${port})`, 'give 1 to 65535, or 0 for any free port.')
}

/** A log that throws must not end the server. */
export function guardLog(log: ServeLog): ServeLog {
  return (entry) => {
    try {
      log(entry)
    } catch {
      // reason: there is nothing left to report it to
    }
  }
}
