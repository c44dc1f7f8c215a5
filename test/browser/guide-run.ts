/** Does what a guide says, as a machine: its commands in its order, with the packed package, in an empty folder. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ROOT } from '../../tools/typecheck.ts'

const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:npm_|VITEST|NODE_|TEST$)/i.test(name)),
)

/** The shell blocks of a page of the guide, in order. */
export function commandsOf(page: string): string[] {
  const text = readFileSync(join(ROOT, 'docs/guide', page), 'utf8')
  return Array.from(text.matchAll(/^```sh\n([\s\S]*?)^```$/gm), (match) => match[1]!)
}

/** The version in the names of packed files. */
export const VERSION: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version

const isSource = (path: string): boolean => !/^(?:dist|node_modules|\.cache)$/.test(basename(path))

/** A folder with a checkout in it, beside which games are made. */
export class GuideRun {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'tickwire-guide-')))
  readonly checkout: string = join(this.folder, 'tickwire')
  readonly #children: ChildProcess[] = []

  /** What a guide needs of a checkout, with the dependencies of this one. */
  copyCheckout(): void {
    const engine = join(this.checkout, 'packages/tickwire')
    mkdirSync(join(this.checkout, 'packages'), { recursive: true })
    for (const path of ['package.json', 'tsconfig.base.json']) cpSync(join(ROOT, path), join(this.checkout, path))
    cpSync(join(ROOT, 'packages/tickwire'), engine, { recursive: true, filter: isSource })
    // The packages by links, and the engine of the copy: the compiler builds what it links.
    const modules = join(this.checkout, 'node_modules')
    mkdirSync(modules)
    for (const name of readdirSync(join(ROOT, 'node_modules')).filter((each) => each !== 'tickwire'))
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
    symlinkSync(engine, join(modules, 'tickwire'))
  }

  /** Packs the services beside the checkout; returns the name of the file. */
  packServices(): string {
    const copy = join(this.checkout, 'packages/services')
    cpSync(join(ROOT, 'packages/services'), copy, { recursive: true, filter: isSource })
    this.run(copy, `npm pack --pack-destination ${this.folder}`)
    return `tickwire-services-${VERSION}.tgz`
  }

  run(cwd: string, commands: string): string {
    const { status, stdout, stderr } = spawnSync('sh', ['-ec', commands], { cwd, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${commands}\nended with ${status}\n${stdout}\n${stderr}`)
    return stdout
  }

  /** Starts a server; resolves to the address that it prints. `port`: by default a free one. */
  async start(cwd: string, command: string, port: number = 0): Promise<string> {
    const child = spawn('sh', ['-ec', command], { cwd, env: { ...env, PORT: String(port) }, detached: true })
    this.#children.push(child)
    return await new Promise((resolve, reject) => {
      let output = ''
      const read = (chunk: Buffer): void => {
        // Without the colours of a terminal.
        output += String(chunk).replace(/\u001b\[\d+m/g, '')
        const url = /http:\S+/.exec(output)?.[0]
        if (url !== undefined) resolve(url)
      }
      child.stdout.on('data', read)
      child.stderr.on('data', read)
      child.once('exit', () => reject(new Error(`the server ended, and had printed: ${output}`)))
    })
  }

  end(): void {
    // By group: the shell, npx and the server it started.
    for (const { pid, exitCode } of this.#children) if (pid !== undefined && exitCode === null) process.kill(-pid)
    // Servers that were just ended may still write, such as the rooms that they keep.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
  }
}
