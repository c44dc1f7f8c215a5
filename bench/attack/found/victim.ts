/** Starts the server that is attacked, asks for its resources, and ends it. Everything stays on loopback. */

import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ServeRoomsOptions } from 'tickwire/node'
import type { VictimAddress, VictimReport } from './victim-process.ts'

/** Options that survive JSON. */
export type VictimOptions = Pick<
  ServeRoomsOptions, 'static' | 'origins' | 'limits' | 'webrtc' | 'webtransport' | 'udp' | 'maxRooms'
> & { readonly [name: string]: unknown }

/** A server process under attack. */
export class Victim implements VictimAddress {
  readonly port: number
  readonly udpPort: number
  readonly identity: string
  readonly code: string
  readonly #process: ChildProcess

  private constructor(child: ChildProcess, { port, udpPort, identity, code }: VictimAddress) {
    this.#process = child
    this.port = port
    this.udpPort = udpPort
    this.identity = identity
    this.code = code
  }

  /** Starts one. `heapMb` bounds its heap: growth beyond it ends the process, and the attack counts as missed. */
  static async start(options: VictimOptions = {}, heapMb = 512): Promise<Victim> {
    const child = fork(fileURLToPath(new URL('./victim-process.ts', import.meta.url)), [JSON.stringify(options)], {
      execArgv: ['--conditions=tickwire-source', '--import', 'tsx', `--max-old-space-size=${heapMb}`],
    })
    return new Victim(child, await next<VictimAddress>(child))
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  /** The resources that the process uses now. Rejects when the process has ended. */
  async ask(): Promise<VictimReport> {
    const answer = next<VictimReport>(this.#process)
    this.#process.send('report')
    return await answer
  }

  async stop(): Promise<void> {
    if (!this.isAlive) return
    const ended = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#process.kill('SIGKILL')
    await ended
  }
}

/** Plays `attack` against a new server process, and ends the process in every case. */
export async function withVictim<T>(options: VictimOptions, attack: (victim: Victim) => Promise<T>): Promise<T> {
  const victim = await Victim.start(options)
  try {
    return await attack(victim)
  } finally {
    await victim.stop()
  }
}

function next<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`the server process ended with code ${code}`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message as T)
    })
  })
}
