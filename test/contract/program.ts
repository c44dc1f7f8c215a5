/** A program of the guide as a process of its own: what it prints, and how it ends. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** How long a process may take to print what is waited for: it compiles itself first, on a machine that may be busy. */
const SAYS_MS_MAX = 60_000

const programs: Program[] = []

/** Ends every program that was started, whatever its state. */
export async function endPrograms(): Promise<void> {
  for (const { child } of programs) child.kill('SIGKILL')
  await Promise.all(programs.splice(0).map(({ ended }) => ended))
}

/** Started when made; on a free port. A source file compiles itself first; a bundled file (.mjs) is ready. */
export class Program {
  readonly child: ChildProcessWithoutNullStreams
  said = ''
  readonly ended: Promise<number | null>

  /** `cwd`: the folder that it runs in. Default: that of this process. */
  constructor(file: URL, args: readonly string[], cwd?: string) {
    const path = fileURLToPath(file)
    const compiler = path.endsWith('.mjs') ? [] : ['--conditions=tickwire-source', '--import', 'tsx']
    this.child = spawn(process.execPath, [...compiler, path, ...args], { cwd, env: { ...process.env, PORT: '0' } })
    const hear = (chunk: Buffer): void => {
      this.said += String(chunk)
    }
    this.child.stdout.on('data', hear)
    this.child.stderr.on('data', hear)
    this.ended = new Promise((resolve) => this.child.once('exit', resolve))
    programs.push(this)
  }

  /** Waits until it has printed something like that. */
  async says(pattern: RegExp, msMax: number = SAYS_MS_MAX): Promise<RegExpExecArray> {
    for (const deadline = performance.now() + msMax; performance.now() < deadline;) {
      const found = pattern.exec(this.said)
      if (found !== null) return found
      if (this.child.exitCode !== null) break
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error(`waited for ${pattern} and got:\n${this.said}`)
  }
}
