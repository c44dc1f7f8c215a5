/**
 * Lockstep in tabs that are really hidden: their timers run once a second and nothing is repainted, but datagrams
 * arrive, and ticks are stepped as they do.
 */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from 'tickwire/node'
import { relay } from 'tickwire/lockstep'
import { endPrograms, Program } from '../contract/program.ts'
import { form } from '../form.ts'
import { game, Spawn } from '../sim/lockstep-game.ts'
import { BROWSER_ADVICE, findBrowser } from './browser.ts'
import { PageFolder } from './page-folder.ts'
import { TabbedBrowser, type Tab } from './tabs.ts'

const HIDDEN_MS = form(4000, 60_000)
const TICK_RATE = game.tickRate

let folder: PageFolder
let browser: TabbedBrowser | undefined

beforeAll(async () => {
  folder = await PageFolder.build({
    match: new URL('../browser-pages/lockstep-page.ts', import.meta.url),
    'relay-worker': new URL('../browser-pages/relay-worker.ts', import.meta.url),
  })
})
afterAll(async () => {
  await browser?.close()
  await endPrograms()
  folder.remove()
})

interface Seen {
  readonly tick: number
  readonly transport: string
  readonly gapMs: number
  readonly timers: number
  readonly isHidden: boolean
}

test('[LOCK64] hidden tabs step every tick as it arrives, and are not behind when they return', async ({ skip }) => {
  if (findBrowser() === undefined && process.env['CI'] !== 'true') return skip(BROWSER_ADVICE)
  const server = new URL('../contract/lockstep-server-process.ts', import.meta.url)
  const program = new Program(server, [folder.path, 'webrtc'])
  const [, http = '', udp = ''] = await program.says(/http (\S+) udp (\S+)/)
  browser = await TabbedBrowser.launch()
  const tabs: Tab[] = []
  for (const enter of [`join(${JSON.stringify(http)})`, `join(${JSON.stringify(http)}, ['webrtc'])`, 'host()']) {
    const tab = await browser.open(http)
    await tab.evaluate(`match.${enter}`)
    await tab.evaluate('match.countTimers()')
    tabs.push(tab)
  }
  const [socket, channel, host] = tabs as [Tab, Tab, Tab]
  const hashes: string[] = []
  const onTick = (tick: number, low: number, high: number): void => { hashes[tick] = `${high}.${low}` }
  const node = await connect(game, relay(udp), { runner: { onTick } })

  const front = await browser.open(http)
  await front.show()
  for (const tab of tabs) await tab.until('document.hidden')
  const before = await Promise.all(tabs.map((tab) => tab.evaluate<Seen>('match.state()')))
  expect(before.slice(0, 2).map(({ transport }) => transport)).toEqual(['websocket', 'webrtc'])
  const startedAt = performance.now()
  for (let round = 0; performance.now() < startedAt + HIDDEN_MS; round++) {
    node.order(Spawn, { count: 1 })
    // A hidden page gives orders too, when a packet arrives.
    if (round % 5 === 0) await tabs[round % 3]!.evaluate(`match.give(${round})`)
    await new Promise((resolve) => { setTimeout(resolve, 100) })
  }
  const seconds = (performance.now() - startedAt) / 1000
  const tickThen = node.tick
  const after = await Promise.all(tabs.map((tab) => tab.evaluate<Seen>('match.state()')))
  for (const [at, { isHidden, timers, gapMs, tick }] of after.entries()) {
    expect(isHidden).toBe(true)
    // The control: the timers of this hidden page run rarely.
    expect(timers / seconds).toBeLessThanOrEqual(2)
    expect(gapMs).toBeLessThan(1000)
    expect((tick - before[at]!.tick) / seconds).toBeGreaterThan(0.9 * TICK_RATE)
  }
  for (const tab of [socket, channel]) {
    await tab.show()
    await tab.until('!document.hidden')
    const { tick } = await tab.evaluate<Seen>('match.state()')
    expect(node.tick - tick).toBeLessThan(TICK_RATE)
    expect(tick).toBeGreaterThan(tickThen - TICK_RATE)
    const seen = await tab.evaluate<string[]>('match.look()')
    const count = Math.min(seen.length, node.tick)
    expect(count).toBeGreaterThan(HIDDEN_MS * 0.9 * TICK_RATE / 1000)
    expect(seen.slice(0, count)).toEqual(hashes.slice(1, count + 1))
  }
  await host.show()
  await host.until('match.state().tick > 0 && !document.hidden')
  node.leave()
}, 180_000)
