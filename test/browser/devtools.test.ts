/**
 * Devtools in a real page: one import and one key, under the strictest content policy. What each panel claims is
 * compared with what the server counted; pictures of it are in test-results.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openRecording, sourceOf } from 'tickwire'
import { Inspection } from 'tickwire/engine'
import type { Readings } from 'tickwire/devtools'
import { serve, type Serving } from 'tickwire/node'
import { serveInspection } from '../../packages/tickwire/src/cli/inspect-page.ts'
import { game, Runner, wind } from '../browser-pages/devtools-game.ts'
import { browserTest } from './browser-test.ts'

const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))
const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'"><link rel="icon" href="icon.svg">
<link rel="stylesheet" href="style.css"><script type="module" src="page.js"></script></head>
<body><canvas width="640" height="360"></canvas></body></html>`
const LIMIT_MS = 90_000

let host: Serving
let folder: string

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  folder = mkdtempSync(`${tmpdir()}/devtools-`)
  writeFileSync(`${folder}/index.html`, PAGE)
  writeFileSync(
    `${folder}/style.css`,
    'body { margin: 0; background: #10131a } canvas { background: #181d29; width: 640px; max-width: 100vw }',
  )
  writeFileSync(`${folder}/icon.svg`, '<svg xmlns="http://www.w3.org/2000/svg"/>')
  await build({
    entryPoints: [fileURLToPath(new URL('../browser-pages/devtools-page.ts', import.meta.url))],
    outfile: `${folder}/page.js`,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['tickwire-source'],
    logLevel: 'warning',
  })
  host = await serve(game, { port: 0, static: folder })
}, LIMIT_MS)
afterAll(async () => {
  await host.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  wind.x = 0
  wind.isFlying = true
})

test('[DEV1] a page that does not import devtools has nothing of them', async () => {
  const symbols = ['tickwire-devtools', 'Lagometer']
  const bundle = async (entry: string): Promise<string> => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
      bundle: true,
      write: false,
      format: 'esm',
      conditions: ['tickwire-source'],
    })
    return outputFiles[0]!.text
  }
  const [without, inside] = [
    await bundle('../../games/hello/client.ts'),
    await bundle('../browser-pages/devtools-page.ts'),
  ]
  for (const symbol of symbols)
    expect([without.includes(symbol), inside.includes(symbol)], symbol).toEqual([false, true])
})

browserTest(
  '[DEV1, DEV5] one key opens the overlay, and closes it without a trace; its cost is printed',
  async (browser) => {
    const page = await open(browser)
    expect(await page.evaluate('document.querySelector("tickwire-devtools") === null')).toBe(true)
    await page.keyboard.press('Backquote')
    await until(async () => await look(page, 'page.devtools.isOpen'))
    await until(async () => await look(page, 'page.devtools.readings().draws > 5'))
    // It says which transport the match uses, and why not a better one.
    const { transport, transportReason } = await readings(page)
    expect(['webtransport', 'webrtc', 'websocket']).toContain(transport)
    expect(transportReason).not.toBe('')
    expect(
      await look(page, 'document.querySelector("tickwire-devtools").shadowRoot.querySelector(".reason").textContent'),
    ).toContain(String(transport))
    await printCosts(page)
    await page.keyboard.press('Backquote')
    await until(async () => await look(page, 'document.querySelector("tickwire-devtools") === null'))
    const draws = await look<number>(page, 'page.devtools.readings().draws')
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await look(page, 'page.devtools.readings().draws')).toBe(draws)
    expect(
      await look(
        page,
        'page.room.tools.onTicked === undefined && page.room.tools.send === undefined '
          + '&& page.room.tools.host.insides.snapshots.probe === undefined',
      ),
    ).toBe(true)
    await page.close()
  },
)

browserTest('[DEV12] every row, graph and button has a tooltip', async (browser) => {
  const page = await open(browser)
  await look(page, 'page.devtools.open()')
  await until(async () => await look(page, 'page.devtools.readings().draws > 5'))
  const titles = await look<string[]>(page, `(() => {
    const root = document.querySelector('tickwire-devtools').shadowRoot
    const canvas = root.querySelector('canvas')
    const titles = [...root.querySelectorAll('button')].map(({ title }) => title)
    const { left, top, width, height } = canvas.getBoundingClientRect()
    for (let y = 4; y < height - 4; y += 5) for (const x of [4, width - 4]) {
      canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: left + x, clientY: top + y }))
      titles.push(canvas.title)
    }
    return titles
  })()`)
  expect(titles).not.toContain('')
  // Five numbers, ten rows and graphs below them, and the buttons.
  expect(new Set(titles).size).toBeGreaterThan(20)
  expect(titles).toContainEqual(expect.stringContaining('as tall as it is large'))
})

browserTest("[DEV2] its numbers are the server's: packets, bytes, traffic, bits of entities", async (browser) => {
  // A busy browser drops datagrams, and then the two counts differ rightly. A stream loses none.
  const page = await open(browser, '?websocket')
  wind.isFlying = false
  await look(page, 'page.devtools.open()')
  const peer = await look<number>(page, 'page.room.peer')
  await quiet()
  // Both count from this quiet moment on.
  host.host.watch.resetBandwidth()
  const before = await look<Readings>(page, '(page.devtools.close(), page.devtools.open(), page.devtools.readings())')
  wind.isFlying = true
  await page.keyboard.down('ArrowRight')
  await until(async () => (await readings(page)).entryBits > 6000)
  await page.keyboard.up('ArrowRight')
  wind.isFlying = false
  // When nothing moves any more everything that was sent has arrived, and this link loses nothing.
  let server = host.host.bandwidth()
  let here = before
  await until(async () => {
    server = host.host.bandwidth()
    here = await readings(page)
    return here.entryBits + here.headBits === server.bits && here.lost === 0
  })
  for (const { name, bits, entries } of server.entities) {
    expect(
      here.entities.find((entity) => entity.name === name),
      name,
    ).toMatchObject({ bits, entries })
  }
  expect(here.entryBits).toBe(server.clients.find((client) => client.peer === peer)!.entryBits)
  const connection = [...host.host.endpoint.connections].find((each) => each.isOpen)!
  await until(async () => {
    here = await readings(page)
    // Every packet of the server arrived: those before the overlay was opened are counted by the connection alone.
    return here.packetsReceived === connection.stats.packetsSent && here.bytesReceived === connection.stats.bytesSent
  })
  expect(here.traffic.reduce((sum, kind) => sum + kind.bytesIn, 0)).toBe(here.bytesReceived - before.bytesReceived)
  expect(here.fields.map(({ path }) => path)).toContain('Drone.x')
  expect(here.fields.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 5)
  await page.close()
})

browserTest(
  '[DEV3] weather on the live connection shows in every panel, and can be ended',
  async (browser) => {
    const page = await open(browser)
    await page.keyboard.press('Backquote')
    await until(async () => await look(page, 'page.devtools.readings().draws > 20'))
    await look(
      page,
      'page.devtools.setWeather({ latencyMs: 80, jitterMs: 40, loss: 0.1, duplication: 0.05, reordering: 0.1 })',
    )
    await page.keyboard.down('ArrowRight')
    await until(async () => {
      const { rttMs, lost, late, received, jitterMs } = await readings(page)
      return rttMs > 150 && lost > 5 && late > 3 && received > 100 && jitterMs > 2
    })
    const { counts, lost } = await look<{ counts: { in: Readonly<Record<string, number>> }; lost: number }>(
      page,
      '({ counts: page.devtools.weatherCounts, lost: page.devtools.readings().lost })',
    )
    // The lagometer counts as lost what the weather dropped: to the packet, except for those in flight.
    expect(Math.abs(lost - counts.in.lost!)).toBeLessThanOrEqual(12)
    expect(counts.in.copied).toBeGreaterThan(0)
    expect(counts.in.held).toBeGreaterThan(0)
    await page.screenshot({ path: `${PICTURES}/devtools-weather.png` })
    // The sliders show the weather, and one click ends it.
    await look(
      page,
      'document.querySelector("tickwire-devtools").shadowRoot'
          + '.querySelector("button[title=\\"a worse network\\"]").click()',
    )
    expect(
      await look(
        page,
        'document.querySelector("tickwire-devtools").shadowRoot.querySelector("input[aria-label=latency]").value',
      ),
    ).toBe('80')
    await look(
      page,
      'document.querySelector("tickwire-devtools").shadowRoot.querySelector("button[title=\\"a clear sky\\"]").click()',
    )
    expect(await look(page, 'page.room.tools.send === undefined && page.room.tools.receive === undefined')).toBe(true)
    // From now on nothing gets through.
    const { sent, received } = await look<{ sent: number; received: number }>(
      page,
      '({ sent: page.devtools.weatherCounts.in.sent, received: page.devtools.readings().packetsReceived })',
    )
    await until(async () => (await readings(page)).packetsReceived > received + 30)
    expect(await look(page, 'page.devtools.weatherCounts.in.sent')).toBe(sent)
    await page.close()
  },
)

browserTest(
  '[DEV4] a rollback names its field and distance; ghosts, inputs and ticks equal those of the match',
  async (browser) => {
    const page = await open(browser)
    await page.keyboard.press('Backquote')
    await look(page, 'page.devtools.setWeather({ latencyMs: 60 })')
    await look(page, 'page.devtools.hasGhosts = true')
    const peer = await look<number>(page, 'page.room.peer')
    await until(async () => (await readings(page)).rttMs > 110)
    const runner = [...host.host.world.each(Runner)].find(({ owner }) => owner === peer)!
    // The rollback follows at the next draw after the packet. A page that did not draw for long restarts its predictor
    // instead, and nothing is rolled back: then the wind blows again.
    let blownAt = -Infinity
    await until(async () => {
      const { mistakes, rollbacks } = await readings(page)
      if (rollbacks > 0 && mistakes.some(({ field, distance }) => field === 'Runner.x' && isNear(distance, 30)))
        return true
      if (performance.now() - blownAt > 3000) {
        blownAt = performance.now()
        wind.x = -30
      }
      return false
    })
    const { mistakes, rollbacks } = await readings(page)
    const planted = mistakes.find(({ distance }) => isNear(distance, 30))!
    expect(rollbacks).toBeGreaterThan(0)
    expect((planted.predicted as number) - (planted.received as number)).toBeCloseTo(30, 1)
    // At rest the ghost is at the server's position of the runner. In motion it is behind the drawn runner, by the
    // ticks that are not received yet.
    await until(async () => {
      const [ghost] = await look<{ x: number; y: number }[]>(page, 'page.ghosts')
      return ghost !== undefined && Math.abs(ghost.x - runner.x) < 0.11 && Math.abs(ghost.y - runner.y) < 0.11
    })
    await look(page, 'page.behind.most = 0')
    await page.keyboard.down('ArrowLeft')
    await until(async () => await look(page, 'page.behind.most > 9'))
    await page.screenshot({ path: `${PICTURES}/devtools-ghosts.png` })
    await page.keyboard.up('ArrowLeft')
    const { tickMs, tickBudgetMs, clientTick, serverTick, leadMs, clockOffsetMs } = await readings(page)
    expect(tickMs).toBeGreaterThanOrEqual(0)
    expect(tickBudgetMs).toBeCloseTo(1000 / 60, 3)
    expect(clientTick).toBeGreaterThan(serverTick)
    expect(leadMs).toBeGreaterThan(0)
    expect(Number.isFinite(clockOffsetMs)).toBe(true)
    await page.close()
  },
)

browserTest('[DEV6] a recording is downloaded from the page, and the inspector shows it', async (browser) => {
  const page = await open(browser)
  await page.keyboard.press('Backquote')
  await look(page, 'page.devtools.setWeather({ latencyMs: 50, loss: 0.03 })')
  await click(page, 'keep the last minute')
  await page.keyboard.down('ArrowUp')
  await until(async () => (await readings(page)).draws > 60)
  wind.x = -30
  await until(async () => (await readings(page)).mistakes.some(({ distance }) => isNear(distance, 30)))
  await page.keyboard.up('ArrowUp')
  const { received } = await readings(page)
  await until(async () => (await readings(page)).received > received + 60)
  const downloading = page.waitForEvent('download', { timeout: LIMIT_MS })
  await click(page, 'download the last minute')
  const download = await downloading
  expect(download.suggestedFilename()).toMatch(/^match-.*\.twr$/)
  const recording = openRecording(sourceOf(readFileSync(await download.path())))
  if (typeof recording === 'string') throw new Error(recording)
  const inspection = new Inspection(recording)
  const planted = inspection.mistakes.find(({ distance }) => Math.abs(distance - 30) < 0.2)!
  expect(inspection.explain(planted)).toMatchObject({ field: 'Runner.x' })
  await page.close()
  const served = await serveInspection(inspection, download.suggestedFilename(), 0)
  const shown = await browser.newPage({ viewport: { width: 1500, height: 900 } })
  const mistakes = watchFor(shown)
  await shown.goto(served.url)
  await until(async () => (await shown.evaluate('document.body.dataset.isReady')) === 'true')
  expect(await shown.evaluate('document.querySelector("#why").textContent')).toContain('Runner.x')
  expect(await shown.evaluate('document.querySelector("#packet").textContent')).toContain('snapshot.tick')
  expect(await shown.evaluate('document.querySelector("#packet").textContent')).toContain('Why this was sent')
  expect(await shown.evaluate('document.querySelector("#worlds").textContent')).toContain('predicted')
  // Scrubbing goes to another tick.
  const before = await shown.evaluate('document.querySelector("#tick").value')
  await shown.mouse.click(300, 120)
  await until(async () => (await shown.evaluate('document.querySelector("#tick").value')) !== before)
  await shown.screenshot({ path: `${PICTURES}/inspect-page.png` })
  expect(mistakes).toEqual([])
  await served.close()
})

/**
 * The cost of the overlay's script. The least of many runs is its own cost; the rest is other work on the same
 * processor.
 */
async function printCosts(page: Page): Promise<void> {
  await until(async () => await look(page, 'page.devtools.readings().draws > 60'))
  const { costs, pictures } = await look<{ costs: number[]; pictures: number[] }>(
    page,
    '({ costs: page.devtools.costs(), pictures: Array.from({ length: 20 }, () => page.devtools.measure(10)) })',
  )
  const sorted = [...costs].sort((a, b) => a - b)
  const at = (share: number): string => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(3)
  console.log(
    `devtools: script a draw, wall time: median ${at(0.5)} ms, 90 of 100 below ${at(0.9)} ms; `
      + `one whole picture ${Math.min(...pictures).toFixed(3)} ms, at most 5 times a second`,
  )
  expect(costs.length).toBeGreaterThan(50)
}

async function open(browser: Browser, query = ''): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1040, height: 860 } })
  const mistakes = watchFor(page)
  await page.goto(`${host.url}${query}`)
  await until(async () => await look(page, 'window.page !== undefined && page.room.view.tick > 0')).catch(
    async (error) => {
      const state = await look(
        page,
        'JSON.stringify([document.readyState, window.page?.room.transport, '
        + 'window.page?.room.transportReason, window.page?.devtools.readings()])',
      )
      throw new Error(
        `${error}; the page is ${state} and said: ${mistakes.join('; ')}; `
      + `at the server: ${host.host.peers.length} players, tick ${host.host.world.tick}`,
      )
    },
  )
  page.on('close', () => {
    if (mistakes.length > 0) throw new Error(mistakes.join('; '))
  })
  return page
}

function watchFor(page: Page): string[] {
  const mistakes: string[] = []
  page.on('pageerror', (error) => mistakes.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') mistakes.push(message.text())
  })
  return mistakes
}

async function look<T = boolean>(page: Page, what: string): Promise<T> {
  return await page.evaluate<T>(what)
}

async function readings(page: Page): Promise<Readings> {
  return await look<Readings>(page, 'page.devtools.readings()')
}

async function click(page: Page, title: string): Promise<void> {
  await look(
    page,
    `document.querySelector("tickwire-devtools").shadowRoot.querySelector("button[title=\\"${title}\\"]").click()`,
  )
}

/** Waits until nothing is sent any more. */
async function quiet(): Promise<void> {
  for (let before = -1; ;) {
    const { bits } = host.host.bandwidth()
    if (bits === before) return
    before = bits
    await new Promise((resolve) => setTimeout(resolve, 400))
  }
}

const isNear = (value: number, wanted: number): boolean => Math.abs(value - wanted) < 0.2

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`still not true after ${LIMIT_MS} ms: ${isTrue}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
