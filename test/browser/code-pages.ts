/** Pages that play by code: a rendezvous that serves them, a relay, and tabs of one browser. */

import { openRelay, type RelayServer } from 'tickwire/node'
import { serveRendezvous, type ServingRendezvous } from '../../packages/services/src/index.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { findBrowser } from './browser.ts'
import { PageFolder } from './page-folder.ts'
import { TabbedBrowser, type Tab } from './tabs.ts'

const ISSUER = new Uint8Array(32).fill(7)

export class CodePages {
  readonly #folder: PageFolder
  readonly #relay: RelayServer
  readonly #rendezvous: ServingRendezvous
  readonly #browser: TabbedBrowser | undefined

  private constructor(
    folder: PageFolder, relay: RelayServer, rendezvous: ServingRendezvous, browser: TabbedBrowser | undefined,
  ) {
    this.#folder = folder
    this.#relay = relay
    this.#rendezvous = rendezvous
    this.#browser = browser
  }

  /** `match` is the script of a page, `worker` that of its Worker. */
  static async serve(pages: { readonly match: URL; readonly worker: URL }): Promise<CodePages> {
    const folder = await PageFolder.build(pages)
    const relay = await openRelay({
      issuers: [bestProvider().importSigning(ISSUER.slice()).publicKey], port: 0, address: '127.0.0.1',
      relayed: '127.0.0.1', webSocket: {},
    })
    const rendezvous = await serveRendezvous({
      port: 0, address: '127.0.0.1', issuer: ISSUER, static: folder.path,
      relays: [{ address: relay.relayed, url: relay.webSocket!.url }],
    })
    const isWanted = findBrowser() !== undefined || process.env['CI'] === 'true'
    return new CodePages(folder, relay, rendezvous, isWanted ? await TabbedBrowser.launch() : undefined)
  }

  /** Whether there is a browser. Where none is, the tests are skipped. */
  get hasBrowser(): boolean {
    return this.#browser !== undefined
  }

  /** The address of the rendezvous, and of its pages. */
  get url(): string {
    return `http://127.0.0.1:${this.#rendezvous.port}/`
  }

  /** A new tab, loaded. */
  async open(): Promise<Tab> {
    const tab = await this.#browser!.open(this.url)
    await tab.until('typeof match === "object"')
    return tab
  }

  async close(): Promise<void> {
    await this.#browser?.close()
    await this.#rendezvous.close()
    await this.#relay.close()
    this.#folder.remove()
  }
}
