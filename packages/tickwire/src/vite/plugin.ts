/**
 * The plugin for Vite: it runs the game server as a process of its own, passes the requests of matches on to it,
 * and starts it again when one of its files was saved. The match goes on: rooms and seats are kept over the restart, as
 * long as the definitions of the game are the same.
 *
 * Pages reload at once. Their requests to the game server wait until it listens, so no page meets the server of the old
 * build, and none fails for the time of the restart. `vite build` does not use the plugin.
 */

import type { IncomingMessage } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import type { Duplex } from 'node:stream'
import { GameProcess } from './game-process.ts'

/** Options of the plugin. */
export interface TickwirePluginOptions {
  /** The program that calls `serve` or a function like it, relative to the root of Vite. Default: `server.ts`. */
  readonly server?: string
  /** The port of the game server, which the program gets as the environment variable PORT. Default: any free port. */
  readonly port?: number
  /** The beginnings of the paths that are passed on to the server. Default: `['/tickwire']`, the paths of matches. */
  readonly paths?: readonly string[]
}

/** The parts of Vite's plugin interface that the plugin uses. Vite 6 and newer accept it. */
export interface TickwirePlugin {
  /** The name that Vite shows. */
  readonly name: string
  /** Not used by `vite build`. */
  readonly apply: 'serve'
  /** Passes requests of matches on to the game server. */
  config(): Promise<{ server: { proxy: Record<string, { target: string }> } }>
  /** Starts the game server. */
  configureServer(vite: {
    readonly config: { readonly root: string }
    readonly httpServer: ViteHttpServer | null
    readonly middlewares: {
      use(path: string, handler: (request: unknown, response: unknown, next: () => void) => void): unknown
    }
  }): void
  /** When a file of the game server was saved: reloads the pages, and starts the server again. */
  hotUpdate(this: { readonly environment: ViteEnvironment }, change: { readonly file: string }): [] | undefined
}

/** The parts of Vite's HTTP server that the plugin uses. */
export interface ViteHttpServer {
  /** Its end. */
  once(event: 'close', listener: () => void): unknown
  /** Requests for a WebSocket. */
  on(event: 'upgrade', listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): unknown
}

/** The parts of an environment of Vite that the plugin uses. */
export interface ViteEnvironment {
  /** Pages are in `client`. */
  readonly name: string
  /** The channel to the pages. */
  readonly hot: { send(payload: { type: 'full-reload' }): void }
}

/** The plugin for `plugins` of vite.config.ts. */
export function tickwire(options: TickwirePluginOptions = {}): TickwirePlugin {
  const { paths = ['/tickwire'] } = options
  let port = 0
  let game: GameProcess | undefined
  return {
    name: 'tickwire',
    apply: 'serve',
    async config() {
      port = options.port ?? await freePort()
      const target = `http://127.0.0.1:${port}`
      return { server: { proxy: Object.fromEntries(paths.map((path) => [path, { target }])) } }
    },
    configureServer({ config: { root }, httpServer, middlewares }) {
      const started = new GameProcess(root, resolve(root, options.server ?? 'server.ts'), port)
      game = started
      started.restart()
      // Runs before the proxy.
      for (const path of paths)
        middlewares.use(path, (_request, _response, next) => void started.isSettled.then(next))
      // Not by the proxy: it cannot wait for a server that restarts, and prints an error for each page that tries.
      httpServer?.on('upgrade', (request, socket, head) => {
        if (paths.some((path) => request.url?.startsWith(path)))
          void started.isSettled.then(() => pass(request, socket, head, port))
      })
      httpServer?.once('close', () => void started.stop())
    },
    hotUpdate({ file }) {
      if (game?.uses(file) !== true) return undefined
      // Vite asks for each of its environments.
      if (this.environment.name === 'client') {
        game.restart()
        this.environment.hot.send({ type: 'full-reload' })
      }
      return []
    },
  }
}

/** A port that was free just now. */
function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer()
    probe.once('error', fail)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => done(port))
    })
  })
}

/** Passes a WebSocket on to the game server, with the request as it came. */
function pass(request: IncomingMessage, socket: Duplex, head: Buffer, port: number): void {
  const server = connect(port, '127.0.0.1', () => {
    const headers = request.rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('')
    server.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers}\r\n`)
    server.write(head)
    socket.pipe(server).pipe(socket)
  })
  server.on('error', () => socket.destroy())
  socket.on('error', () => server.destroy())
}
