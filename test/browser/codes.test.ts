/** Play by code in real pages: a page hosts in a Worker, pages and Node join, by data channel and by relay. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, host } from 'tickwire/node'
import { game, Player } from '../../games/hello/game.ts'
import { form } from '../form.ts'
import { BROWSER_ADVICE } from './browser.ts'
import { CodePages } from './code-pages.ts'
import type { Tab } from './tabs.ts'

const HIDDEN_MS = form(4000, 300_000)
let pages: CodePages

interface Seen {
  readonly players: number
  readonly tick: number
  readonly path: string
  readonly reason: string
  readonly transport: string
  readonly end: string
  readonly isHidden: boolean
  readonly timers: number
  readonly isAway: boolean
  readonly areTransferred?: boolean
}

beforeAll(async () => {
  pages = await CodePages.serve({
    match: new URL('../browser-pages/code-page.ts', import.meta.url),
    worker: new URL('../browser-pages/code-worker.ts', import.meta.url),
  })
})
afterAll(() => pages.close())

const open = (): Promise<Tab> => pages.open()

const look = (tab: Tab): Promise<Seen> => tab.evaluate<Seen>('match.state()')

test('[HOST4, HOST5, HOST6] a hidden page hosts two pages and Node, and all learn its end', async ({ skip }) => {
  if (!pages.hasBrowser) return skip(BROWSER_ADVICE)
  const [hostTab, one, two] = [await open(), await open(), await open()]
  const { code, link } = await hostTab.evaluate<{ code: string; link: string }>('match.hostMatch()')
  expect(link).toBe(`${pages.url}#${code}-${link.slice(-16)}`)
  expect(await one.evaluate(`match.join(${JSON.stringify(code)})`)).toBe('joined')
  expect(await two.evaluate(`match.join(${JSON.stringify(link)})`)).toBe('joined')
  const node = await connect(game, code, { rendezvous: pages.url })
  for (const tab of [one, two, hostTab]) await tab.until('match.state().players === 4')
  // The match begins by relay and moves to the data channel.
  for (const tab of [one, two]) await tab.until('match.state().path === "direct"')
  expect(node.path).toBe('relay')
  const front = await open()
  await front.show()
  await hostTab.evaluate('match.countTimers()')
  await hostTab.until('document.hidden')
  const before = [await look(one), await look(two)]
  const timersBefore = (await look(hostTab)).timers
  const startedAt = performance.now()
  await one.show()
  await new Promise((resolve) => { setTimeout(resolve, HIDDEN_MS) })
  const seconds = (performance.now() - startedAt) / 1000
  const hidden = await look(hostTab)
  expect(hidden.isHidden).toBe(true)
  expect(hidden.areTransferred).toBe(true)
  // The control: the timers of this hidden page run rarely. In a visible page they run 250 times a second.
  expect((hidden.timers - timersBefore) / seconds).toBeLessThanOrEqual(5)
  const after = [await look(one), await look(two)]
  for (const [at, seen] of after.entries()) {
    expect(seen.isAway).toBe(false)
    expect((seen.tick - before[at]!.tick) / seconds).toBeGreaterThan(0.9 * game.tickRate)
    expect(seen.players).toBe(4)
  }
  await hostTab.evaluate('match.close()')
  for (const tab of [one, two]) await tab.until('match.state().end === "host-left"')
  expect(await node.closed).toEqual({ by: 'peer', code: 'host-left' })
}, 120_000 + HIDDEN_MS)

test('[HOST6, PATH3] a page joins a host on Node, directly, by WebSocket and by relay-only', async ({ skip }) => {
  if (!pages.hasBrowser) return skip(BROWSER_ADVICE)
  const hosted = await host(game, { rendezvous: pages.url, signals: false, log: () => {} })
  const [one, two, three] = [await open(), await open(), await open()]
  expect(await one.evaluate(`match.join(${JSON.stringify(hosted.code)})`)).toBe('joined')
  expect(await two.evaluate(`match.join(${JSON.stringify(hosted.code)}, { transports: ['websocket'] })`)).toBe('joined')
  expect(await three.evaluate(`match.join(${JSON.stringify(hosted.code)}, { path: 'relay-only' })`)).toBe('joined')
  for (const tab of [one, two, three]) await tab.until('match.state().players === 3')
  await one.until('match.state().path === "direct"')
  expect((await look(two)).path).toBe('websocket')
  expect((await look(three)).path).not.toBe('direct')
  expect([...hosted.serving.host.world.each(Player)].length).toBe(3)
  expect(await one.evaluate('match.join("IRON-0000")')).toBe('no-such-code')
  await hosted.close()
  for (const tab of [one, two, three]) await tab.until('match.state().end === "host-left"')
}, 120_000)

test('[HOST3] guests of a host that vanished without a word learn that it has left', async ({ skip }) => {
  if (!pages.hasBrowser) return skip(BROWSER_ADVICE)
  const [hostTab, guest] = [await open(), await open()]
  const { code } = await hostTab.evaluate<{ code: string }>('match.hostMatch()')
  expect(await guest.evaluate(`match.join(${JSON.stringify(code)})`)).toBe('joined')
  const node = await connect(game, code, { rendezvous: pages.url })
  await guest.until('match.state().players === 3')
  await hostTab.evaluate('match.vanish()')
  await guest.until('match.state().end === "host-left"', 60_000)
  expect((await node.closed).code).toBe('host-left')
}, 120_000)
