/** Two relays and a rendezvous on the public network of namespaces, and players of the arena in homes around it. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type Browser, type Page, chromium } from 'playwright-core'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { findBrowser } from '../browser/browser.ts'
import { type ProgramBundle, bundlePrograms } from '../bundle-programs.ts'
import { Namespaces, inNamespace } from './nat-homes.ts'

const RELAYS = ['100.64.0.10', '100.64.0.20'] as const
const RENDEZVOUS = 'http://100.64.0.10:8080/'
const BROWSER_ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']

/** How a match goes, as a player sees it. */
export interface Status {
  readonly players: number
  readonly path: string
  readonly reason: string
  readonly isAway: boolean
  readonly isSame: boolean
  readonly tick: number
  readonly end: string
  readonly addresses: readonly string[]
}

/** A process in a namespace, and what it printed. */
export class Inside {
  said: string = ''
  readonly child: ChildProcessWithoutNullStreams

  constructor(namespace: string, file: string, args: readonly string[]) {
    const [command, ...words] = inNamespace(namespace, process.execPath, file, ...args)
    this.child = spawn(command, words)
    const note = (chunk: Buffer): void => { this.said += String(chunk) }
    this.child.stdout.on('data', note)
    this.child.stderr.on('data', note)
  }

  async says(pattern: RegExp): Promise<RegExpExecArray> {
    await until(() => pattern.test(this.said), () => `waited for ${pattern} and got:\n${this.said}`)
    return pattern.exec(this.said)!
  }

  get status(): Status {
    const [, last] = [...this.said.matchAll(/^status (.*)$/gm)].at(-1) ?? []
    return last === undefined ? { players: 0, reason: this.said } as Status : JSON.parse(last)
  }
}

export async function until(isTrue: () => boolean | Promise<boolean>, what: () => unknown): Promise<void> {
  for (const end = performance.now() + 60_000; performance.now() < end;) {
    if (await isTrue()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`still not true: ${JSON.stringify(await what())}`)
}

/** The state of a page. */
export function look(page: Page): Promise<Status> {
  return page.evaluate('match.state()')
}

export class CodeStage {
  readonly net: Namespaces = new Namespaces()
  readonly relays: Inside[] = []
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'tickwire-code-'))
  readonly #started: Inside[] = []
  readonly #browsers: Browser[] = []
  #bundle: ProgramBundle | undefined

  async open(): Promise<void> {
    const folder = this.#folder
    this.#bundle = await bundlePrograms({
      peer: 'test/contract/code-peer-process.ts', tickwire: 'packages/services/src/cli/index.ts',
      doctor: 'packages/tickwire/src/cli/index.ts',
    })
    await build({
      entryPoints: {
        match: fileURLToPath(new URL('../browser-pages/code-page.ts', import.meta.url)),
        worker: fileURLToPath(new URL('../browser-pages/code-worker.ts', import.meta.url)),
      },
      outdir: folder, bundle: true, format: 'iife', globalName: 'match', conditions: ['tickwire-source'],
    })
    writeFileSync(join(folder, 'index.html'), '<!doctype html><script src="/match.js"></script>')
    const seed = new Uint8Array(32).fill(6)
    const [publicFile, secretFile] = [join(folder, '.issuer.pub'), join(folder, '.issuer.key')]
    writeFileSync(publicFile, keyToText('issuer-public', bestProvider().importSigning(seed.slice()).publicKey))
    writeFileSync(secretFile, keyToText('issuer-secret', seed))
    for (const [index, address] of RELAYS.entries())
      this.relays.push(this.#start(
        this.net.public, 'tickwire', 'relay', '--address', address, '--relayed', address, '--issuer', publicFile,
        '--ops', String(9091 + index), '--kbits', '4000',
      ))
    const rendezvous = this.#start(
      this.net.public, 'tickwire', 'rendezvous', '--address', '100.64.0.10', '--issuer', secretFile, '--static', folder,
      '--ops', '9095', ...RELAYS.flatMap((ip) => ['--relay', `${ip}:7777,ws://${ip}:7777/v1/relay`]),
    )
    await Promise.all([...this.relays, rendezvous].map((service) => service.says(/status:/)))
  }

  /** A player on Node: a host, or a guest with a code. */
  node(home: string, code?: string): Inside {
    const orders = { rendezvous: RENDEZVOUS, ...(code !== undefined && { code }) }
    return this.#start(home, 'peer', JSON.stringify(orders))
  }

  /** What `tickwire doctor` says there. */
  doctor(home: string): Inside {
    return this.#start(home, 'doctor', 'doctor', '--rendezvous', RENDEZVOUS)
  }

  /** A page of the arena. */
  async page(home: string): Promise<Page> {
    const wrapper = join(this.#folder, `.chromium-${home}`)
    writeFileSync(wrapper, `#!/bin/sh\nexec ${inNamespace(home, findBrowser()!).join(' ')} "$@"\n`)
    chmodSync(wrapper, 0o755)
    const browser = await chromium.launch({ executablePath: wrapper, args: BROWSER_ARGS, timeout: 90_000 })
    this.#browsers.push(browser)
    const page = await browser.newPage()
    await page.goto(`${RENDEZVOUS}?arena`)
    return page
  }

  async closeBrowsers(): Promise<void> {
    for (const browser of this.#browsers.splice(0)) await browser.close()
  }

  async close(): Promise<void> {
    await this.closeBrowsers()
    for (const { child } of this.#started) child.kill('SIGKILL')
    this.net.close()
    this.#bundle?.remove()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #start(namespace: string, name: string, ...args: string[]): Inside {
    const inside = new Inside(namespace, join(this.#bundle!.folder, `${name}.mjs`), args)
    this.#started.push(inside)
    return inside
  }
}
