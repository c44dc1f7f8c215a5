/** Programs of a soak: bundled once, so that they are what users run, and started with free ports. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePrograms } from '../bundle-programs.ts'

const READY_MS_MAX = 30_000

export class SoakStage {
  /** For files of the run. */
  readonly folder: string = mkdtempSync(join(tmpdir(), 'tickwire-soak-'))
  readonly #programs: string
  readonly #remove: () => void

  private constructor(programs: string, remove: () => void) {
    this.#programs = programs
    this.#remove = remove
  }

  /** `crowd`: the source of the process that has the players, relative to the repository. */
  static async open(crowd: string): Promise<SoakStage> {
    const { folder, remove } = await bundlePrograms({ tickwire: 'packages/services/src/cli/index.ts', crowd })
    return new SoakStage(folder, remove)
  }

  get crowd(): string {
    return join(this.#programs, 'crowd.mjs')
  }

  /** Starts the program `tickwire`. Resolves when it has printed `ready`. */
  async start(args: readonly string[], ready: RegExp): Promise<ChildProcess> {
    const child = spawn(process.execPath, [join(this.#programs, 'tickwire.mjs'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_ENV: 'production' },
    })
    let said = ''
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`waited for ${ready} and got:\n${said}`)), READY_MS_MAX)
      child.once('exit', (code) => reject(new Error(`tickwire ${args[0]} ended with ${code}:\n${said}`)))
      child.stdout.on('data', (chunk: Buffer) => {
        said = (said + String(chunk)).slice(-10_000)
        if (!ready.test(said)) return
        clearTimeout(timer)
        resolve()
      })
    })
    return child
  }

  close(): void {
    this.#remove()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
