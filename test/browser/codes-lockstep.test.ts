/** Lockstep matches by code in real pages: the relay in the Worker of a hidden page, and meshes of pages and Node. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { mesh, relay as at, type LockstepGame, type LockstepPlace, type LockstepRoom } from 'tickwire/lockstep'
import { connect } from 'tickwire/node'
import { game } from '../sim/lockstep-game.ts'
import { BROWSER_ADVICE } from './browser.ts'
import { CodePages } from './code-pages.ts'
import type { Tab } from './tabs.ts'

let pages: CodePages

beforeAll(async () => {
  pages = await CodePages.serve({
    match: new URL('../browser-pages/code-lockstep-page.ts', import.meta.url),
    worker: new URL('../browser-pages/code-lockstep-worker.ts', import.meta.url),
  })
})
afterAll(() => pages.close())

const open = (): Promise<Tab> => pages.open()

interface NodePlayer {
  readonly room: LockstepRoom
  /** Indexed by tick. */
  readonly hashes: string[]
}

async function enter(where: LockstepPlace): Promise<NodePlayer> {
  const hashes: string[] = []
  const runner = { onTick: (tick: number, low: number, high: number) => { hashes[tick] = `${high}.${low}` } }
  return { room: await connect(game as unknown as LockstepGame, where, { rendezvous: pages.url, runner }), hashes }
}

/** All give orders, and have the same hash in every tick from now on. */
async function play(tabs: readonly Tab[], { room, hashes }: NodePlayer): Promise<void> {
  for (let round = 0; round < 4; round++)
    for (const tab of tabs) expect(await tab.evaluate('match.give()')).toBe('sent')
  const { tick } = room
  const last = tick + 60
  for (const tab of tabs) await tab.until(`match.look().length >= ${last}`)
  expect(room.tick).toBeGreaterThan(tick)
  while (room.tick < last) await new Promise((resolve) => { setTimeout(resolve, 10) })
  for (const tab of tabs)
    expect((await tab.evaluate<string[]>('match.look()')).slice(0, last)).toEqual(hashes.slice(1, last + 1))
}

test('[HOST8] the order relay runs in the Worker of a hidden page, for a page and Node', async ({ skip }) => {
  if (!pages.hasBrowser) return skip(BROWSER_ADVICE)
  const [hostTab, guest] = [await open(), await open()]
  const code = await hostTab.evaluate<string>('match.hostMatch()')
  await guest.evaluate(`match.join(${JSON.stringify(code)})`)
  const node = await enter(at(code))
  for (const tab of [hostTab, guest]) await tab.until('match.state().players === 3')
  await guest.until('match.state().path === "direct"')
  expect(node.room.path).toBe('relay')
  await guest.show()
  await hostTab.until('document.hidden')
  await play([hostTab, guest], node)
  await hostTab.evaluate('match.close()')
  await guest.until('match.state().end === "host-left"')
  expect((await node.room.closed).code).toBe('host-left')
}, 120_000)

test('[HOST9] a mesh of two pages and Node forms by code; the others go on when its host leaves', async ({ skip }) => {
  if (!pages.hasBrowser) return skip(BROWSER_ADVICE)
  const [hostTab, guest] = [await open(), await open()]
  const code = await hostTab.evaluate<string>('match.hostMesh(3)')
  const joining = guest.evaluate(`match.joinMesh(${JSON.stringify(code)})`)
  const node = await enter(mesh(code))
  await joining
  const tabs = [hostTab, guest]
  for (const tab of tabs) await tab.until('match.state().players === 3')
  await play(tabs, node)
  await hostTab.evaluate('match.leave()')
  await guest.until('match.state().players === 2')
  await play([guest], node)
  node.room.leave()
  await guest.evaluate('match.leave()')
  await guest.until('match.state().end === "left"')
}, 120_000)

test('[HOST9] a mesh of two pages has a data channel between them', async ({ skip }) => {
  if (!pages.hasBrowser) return skip(BROWSER_ADVICE)
  const [hostTab, guest] = [await open(), await open()]
  const code = await hostTab.evaluate<string>('match.hostMesh(2)')
  await guest.evaluate(`match.joinMesh(${JSON.stringify(code)})`)
  for (const tab of [hostTab, guest]) await tab.until('match.state().path === "direct"')
  await hostTab.until('document.hidden')
  for (const tab of [hostTab, guest]) await tab.until('match.state().tick > 60')
  const [one, two] = await Promise.all([hostTab, guest].map((tab) => tab.evaluate<string[]>('match.look()')))
  const count = Math.min(one!.length, two!.length)
  expect(one!.slice(0, count)).toEqual(two!.slice(0, count))
}, 120_000)
