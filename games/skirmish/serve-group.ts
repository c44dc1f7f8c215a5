/**
 * Skirmish with a standby: two relays as processes of their own. A button of the page kills the first one, and the
 * match goes on at the other (docs/adr/0059-handover.md). The first relay starts again after a while, for new matches.
 *
 *   this process ──fork──▶ relay 0: the page and matches, at the port
 *                └─fork──▶ relay 1: the standby, STANDBY_ABOVE ports above; answers POST /kill
 */

import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { SkirmishSettings } from './arguments.ts'

/** The port of the standby is so much higher. */
export const STANDBY_ABOVE = 10
/** Clients have gone to the standby by then. */
const RESTART_MS = 10_000

/** The first message to a relay process: which one it is, and the secret identity of each, in hexadecimal digits. */
export interface RelayOrder {
  readonly number: number
  readonly ports: readonly number[]
  readonly identities: readonly string[]
  readonly settings: SkirmishSettings
  readonly folder: string
}

/** Starts both relays. `url` is the address of the page. */
export async function serveGroup(
  settings: SkirmishSettings, folder: string = './public',
): Promise<{ readonly url: string; close(): void }> {
  const ports = [settings.port, settings.port + STANDBY_ABOVE]
  const identities = ports.map(() => randomBytes(32).toString('hex'))
  const children: ChildProcess[] = []
  let isClosed = false
  const start = async (number: number): Promise<void> => {
    const program = fileURLToPath(new URL('relay-process.ts', import.meta.url))
    const child = fork(program, { execArgv: ['--conditions=tickwire-source', '--import', 'tsx'] })
    children[number] = child
    child.send({ number, ports, identities, settings, folder } satisfies RelayOrder)
    await new Promise<void>((resolve, reject) => {
      child.on('message', (message) => {
        if (message === 'ready') resolve()
        if (message === 'kill') children[0]?.kill('SIGKILL')
      })
      child.once('exit', (code, signal) => {
        reject(new Error(`The relay at port ${ports[number]} ended with ${code ?? signal}.`))
        if (!isClosed && signal === 'SIGKILL') setTimeout(() => restart(number), RESTART_MS)
      })
    })
  }
  /** A relay that is closed while it starts is no error. */
  const restart = (number: number): void => {
    if (isClosed) return
    start(number).catch((error: unknown) => { if (!isClosed) console.error(String(error)) })
  }
  await Promise.all(ports.map((_, number) => start(number)))
  return {
    url: `http://localhost:${ports[0]}/?standby=${ports[1]}`,
    close() {
      isClosed = true
      for (const child of children) child.kill()
    },
  }
}
