/**
 * A datagram port in a page of a real browser, driven from a test. Its counters arrive a moment later.
 */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { createPortStats, type DatagramPort, type DatagramPortStats } from 'tickwire/engine'

const PAGE = fileURLToPath(new URL('../browser-pages/ports-page.ts', import.meta.url))

/** The script of every such page. */
let script: Promise<string> | undefined

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [PAGE],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'ports',
    conditions: ['tickwire-source'],
  })
  return outputFiles[0]!.text
}

/** Indexed by page: the ports that its script has opened since it was last loaded. */
const newest = new WeakMap<Page, PortPage>()

export type PortKind = 'websocket' | 'webtransport' | 'webrtc'

/** Opens ports in one page, from one load of it to the next. */
export class PortPage {
  readonly #page: Page
  readonly #ports: Map<number, RemotePort> = new Map()

  private constructor(page: Page) {
    this.#page = page
  }

  /** Turns `page`, whose origin may use transports, into one that can open ports. */
  static async furnish(page: Page): Promise<PortPage> {
    const self = new PortPage(page)
    if (!newest.has(page))
      await page.exposeFunction(
        'tellTest',
        (number: number, event: string, address: string, bytes: number[], stats: DatagramPortStats) => {
          newest.get(page)?.portAt(number)?.hear(event, address, bytes, stats)
        },
      )
    newest.set(page, self)
    await page.addScriptTag({ content: await (script ??= bundle()) })
    return self
  }

  portAt(number: number): RemotePort | undefined {
    return this.#ports.get(number)
  }

  /** Sends through the port that was opened last, until it drops something. */
  async flood(to: string, count: number): Promise<DatagramPortStats> {
    return (await this.#page.evaluate(
      `ports.flood(${this.#ports.size - 1}, ${JSON.stringify(to)}, ${count})`,
    )) as DatagramPortStats
  }

  async open(kind: PortKind, url: string, hashes: readonly Uint8Array[] = []): Promise<DatagramPort> {
    const number = (await this.#page.evaluate(
      `ports.open(${JSON.stringify(kind)}, ${JSON.stringify(url)}, ${JSON.stringify(hashes.map((hash) => [...hash]))})`,
    )) as number
    const max = (await this.#page.evaluate(`ports.maxDatagramBytes(${number})`)) as number
    const port = new RemotePort(this.#page, number, max)
    this.#ports.set(number, port)
    return port
  }
}

class RemotePort implements DatagramPort {
  readonly maxDatagramBytes: number
  readonly stats: DatagramPortStats = createPortStats()
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  readonly #page: Page
  readonly #number: number

  constructor(page: Page, number: number, maxDatagramBytes: number) {
    this.#page = page
    this.#number = number
    this.maxDatagramBytes = maxDatagramBytes
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    const call = `ports.send(${this.#number}, ${JSON.stringify(to)}, ${JSON.stringify([...bytes])}, ${length})`
    void this.#page.evaluate(call).then((stats) => Object.assign(this.stats, stats)).catch(() => {})
  }

  close(): void {
    void this.#page.evaluate(`ports.close(${this.#number})`).catch(() => {})
  }

  hear(event: string, address: string, bytes: number[], stats: DatagramPortStats): void {
    Object.assign(this.stats, stats)
    if (event === 'datagram') this.onDatagram(address, Uint8Array.from(bytes), bytes.length)
    else this.onPathClosed(address)
  }
}
