/** The programs and the page of docs/guide/play-together.md, as they are printed there. */

import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect } from 'vitest'
import { serveAll, type ServingAll } from '../../packages/services/src/index.ts'
import { endPrograms, Program } from '../contract/program.ts'
import { browserTest } from './browser-test.ts'

const EXAMPLE = new URL('../../docs/guide/examples/together/', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'tickwire-together-'))
let services: ServingAll

beforeAll(async () => {
  await build({
    entryPoints: [
      fileURLToPath(new URL('../../docs/guide/examples/together/client.ts', import.meta.url)),
      fileURLToPath(new URL('../../docs/guide/examples/together/host-worker.ts', import.meta.url)),
    ],
    outdir: folder, bundle: true, format: 'esm', target: 'es2022', conditions: ['tickwire-source'],
  })
  cpSync(new URL('public/index.html', EXAMPLE), join(folder, 'index.html'))
  services = await serveAll({
    port: 0, relayPort: 0, address: '127.0.0.1', publicAddress: '127.0.0.1', static: folder,
  })
  process.env['RENDEZVOUS'] = services.url
})

afterAll(async () => {
  await endPrograms()
  await services.close()
  rmSync(folder, { recursive: true, force: true })
})

browserTest('[HOST7] the guide: Node hosts, Node and a page join; a page hosts, a page joins', async (browser) => {
  const host = new Program(new URL('../../docs/guide/examples/together/host.ts', import.meta.url), [])
  const [, code = ''] = await host.says(/code (\S+)/)
  const [, link = ''] = await host.says(/link (\S+)/)
  const guest = new Program(new URL('../../docs/guide/examples/together/guest.ts', import.meta.url), [code])
  await guest.says(/1 players, direct/)
  const open = async (url: string): Promise<Awaited<ReturnType<typeof browser.newPage>>> => {
    const page = await (await browser.newContext()).newPage()
    await page.goto(url)
    return page
  }
  const linked = await open(link)
  await linked.getByText(/2 players, (direct|relay|websocket)/).waitFor()
  host.child.kill('SIGINT')
  await guest.says(/over: host-left/)
  await linked.getByText('over: host-left').waitFor()

  const first = await open(services.url)
  await first.click('#host')
  await first.getByText('1 players, direct').waitFor()
  const typed = await first.inputValue('#code')
  expect(await first.locator('#qr svg').count()).toBe(1)
  const second = await open(services.url)
  await second.fill('#code', typed.toLowerCase())
  await second.click('#join')
  await second.getByText(/2 players, direct/).waitFor()
  // The host closes its tab, without leaving the match first.
  await first.close()
  await second.getByText('over: host-left').waitFor({ timeout: 60_000 })
})
