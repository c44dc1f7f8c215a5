/** A real redis-server of a test, on a port of its own, without persistence. It can be frozen, killed and restarted. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { connect, createServer } from 'node:net'

/** Whether Debian's redis-server is installed; `npm test` installs it. */
export const hasRedis: boolean = spawnSync('redis-server', ['--version']).status === 0

export class RedisServer {
  readonly port: number
  #child: ChildProcess | undefined

  private constructor(port: number) {
    this.port = port
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort())
    await server.restart()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** Starts it again, empty, after `kill`. */
  async restart(): Promise<void> {
    const child = spawn('redis-server', [
      '--port', `${this.port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp',
      '--daemonize', 'no', '--loglevel', 'warning',
    ], { stdio: 'ignore' })
    this.#child = child
    for (let tries = 0; tries < 500; tries++) {
      if (await this.ask('PING') === '+PONG') return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new Error('redis-server does not answer')
  }

  /** Stops its process without closing its connections. */
  freeze(): void {
    this.#child?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child?.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** Forgets everything, its scripts too. */
  async flush(): Promise<void> {
    await this.ask('FLUSHALL')
    await this.ask('SCRIPT FLUSH')
  }

  /** The first line of the answer to a command without spaces in its words. Empty: it did not answer. */
  async ask(command: string): Promise<string> {
    return await new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => socket.write(`${command}\r\n`))
      socket.once('data', (chunk) => {
        socket.destroy()
        resolve(String(chunk).split('\r\n', 1)[0] ?? '')
      })
      socket.once('error', () => resolve(''))
    })
  }
}

async function freePort(): Promise<number> {
  return await new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
