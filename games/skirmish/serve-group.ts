/**
 * Skirmish with two relays. A button of the page kills the process of the first one, and the match goes on at the
 * second one (docs/adr/0059-handover.md). The first relay starts again after a while, for new matches.
 *
 *   this process        relay 1: the standby, STANDBY_ABOVE ports above; answers POST /kill
 *        └──fork──▶     relay 0: the page and matches, at the port
 */

import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import {
  bestProvider, type GroupRelay, type RequestHandler, type ServeLockstepOptions, type ServingLockstep,
} from 'tickwire/node'
import type { SkirmishSettings } from './arguments.ts'
import { serveSkirmish } from './serve-skirmish.ts'

/** The port of the standby is so much higher. */
export const STANDBY_ABOVE = 10
/** Clients have gone to the standby by then. */
const RESTART_MS = 10_000

/** The first message to the process of relay 0. `identities`: secret, in hexadecimal digits, one for each relay. */
export interface RelayOrder {
  readonly ports: readonly number[]
  readonly identities: readonly string[]
  readonly settings: SkirmishSettings
  readonly folder: string
}

/** Served matches. */
export interface ServingGroup {
  /** The address of the page. It names the port of the standby. */
  readonly url: string
  /** Why there is no standby; empty: there is one. */
  readonly note: string
  close(): Promise<void>
}

/**
 * Serves matches at both relays. Where the port of the standby is in use, or the port is any free one, there is one
 * relay, in this process. Throws an Error when the matches cannot be served.
 */
export async function serveGroup(settings: SkirmishSettings, folder: string = './public'): Promise<ServingGroup> {
  const alone = async (why: string): Promise<ServingGroup> => {
    const serving = await serveSkirmish(settings, { static: folder })
    return { url: serving.url, note: `There is one relay only: ${why}`, close: () => serving.close() }
  }
  if (settings.port === 0) return await alone('two relays need --port.')
  const ports = [settings.port, settings.port + STANDBY_ABOVE]
  const identities = ports.map(() => randomBytes(32).toString('hex'))
  const first = new FirstRelay({ ports, identities, settings, folder })
  let standby: ServingLockstep
  try {
    standby = await serveSkirmish({ ...settings, port: ports[1]! }, {
      ...groupOptions(ports, identities, 1), handler: killHandler(ports[0]!, () => first.kill()),
    })
  } catch (error) {
    return await alone(error instanceof Error ? error.message : String(error))
  }
  const close = async (): Promise<void> => {
    await Promise.all([first.close(), standby.close()])
  }
  try {
    await first.start()
  } catch (error) {
    await close()
    throw error
  }
  return { url: `http://localhost:${ports[0]}/?standby=${ports[1]}`, note: '', close }
}

/** What the relays of the group have in common. `number`: which of them it is. */
export function groupOptions(
  ports: readonly number[], identities: readonly string[], number: number,
): Pick<ServeLockstepOptions, 'relays' | 'security' | 'origins'> {
  const secrets = identities.map((identity) => Uint8Array.from(Buffer.from(identity, 'hex')))
  const relays: GroupRelay[] = secrets.map((secret, at) => ({
    url: `http://localhost:${ports[at]}`, key: bestProvider().importSigning(Uint8Array.from(secret)).publicKey,
  }))
  // Pages come from the first relay.
  return { relays, security: { identity: secrets[number]! }, origins: [relays[0]!.url] }
}

/** Answers POST /kill of pages of the first relay. Other pages and other machines cannot kill it. */
function killHandler(port: number, kill: () => void): RequestHandler {
  const origin = `http://localhost:${port}`
  return (request, response) => {
    const isHere = /^(::1|(::ffff:)?127\..*)$/.test(request.socket.remoteAddress ?? '')
    const isKill = isHere && request.method === 'POST' && request.url === '/kill' && request.headers.origin === origin
    response.writeHead(isKill ? 204 : 404, isKill ? { 'access-control-allow-origin': origin } : {}).end()
    if (isKill) kill()
  }
}

/** The process of the relay that can be killed. */
class FirstRelay {
  readonly #order: RelayOrder
  #child: ChildProcess | undefined
  #isClosed = false

  constructor(order: RelayOrder) {
    this.#order = order
  }

  async start(): Promise<void> {
    const program = fileURLToPath(new URL('relay-process.ts', import.meta.url))
    const child = fork(program, { execArgv: ['--conditions=tickwire-source', '--import', 'tsx'] })
    this.#child = child
    child.send(this.#order)
    await new Promise<void>((resolve, reject) => {
      child.on('message', (message) => {
        if (message === 'ready') resolve()
        else reject(new Error(String(message)))
      })
      child.once('exit', (code, signal) => {
        reject(new Error(`The relay at port ${this.#order.ports[0]} ended with ${code ?? signal}.`))
        if (!this.#isClosed && signal === 'SIGKILL') setTimeout(() => this.#restart(), RESTART_MS)
      })
    })
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  /** Ends the process. Its matches and recordings are completed first. */
  async close(): Promise<void> {
    this.#isClosed = true
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    if (child.connected) child.disconnect()
    await ended
  }

  /** A relay that is closed while it starts is no error. */
  #restart(): void {
    if (this.#isClosed) return
    this.start().catch((error: unknown) => { if (!this.#isClosed) console.error(String(error)) })
  }
}
