/** The arena by code, between machines behind real routers in network namespaces: Node and Chromium, both as host. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER_ADVICE, findBrowser } from '../browser/browser.ts'
import { form } from '../form.ts'
import { CodeStage, type Inside, look, type Status, until } from './code-stage.ts'
import { whyNoNamespaces } from './nat-homes.ts'

const why = whyNoNamespaces()
/** `npm test` plays behind symmetric routers, which is harder; four browsers take long to start. */
const isWhole = form(false, true)
const hasBrowser = findBrowser() !== undefined || process.env['CI'] !== undefined
let stage: CodeStage

type Look = () => Promise<Status>

/** A host on Node and a host in a page in the first home; in the second home guests of both, on Node and in a page. */
async function play(
  first: string, second: string,
): Promise<{ readonly guests: readonly Look[]; readonly host: Inside }> {
  const [hostPage, guestPage] = await Promise.all([stage.page(first), stage.page(second)])
  const host = stage.node(first)
  const [, code = ''] = await host.says(/^code (\S+)$/m)
  const hosted = await hostPage.evaluate<{ code: string }>('match.hostMatch()')
  const [ofNode, ofPage] = [stage.node(second, code), stage.node(second, hosted.code)]
  expect(await guestPage.evaluate(`match.join(${JSON.stringify(hosted.code)})`)).toBe('joined')
  const guests = [async () => ofNode.status, async () => look(guestPage), async () => ofPage.status]
  const all = (): Promise<Status[]> => Promise.all(guests.map((guest) => guest()))
  await until(async () => (await all()).every(({ players }, at) => players === (at === 0 ? 1 : 3)), all)
  return { guests, host }
}

test.runIf(why !== undefined && process.env['CI'] !== undefined)('[PATH4] CI has network namespaces', () => {
  expect(why).toBeUndefined()
})

describe.skipIf(why !== undefined)(`codes in namespaces${why === undefined ? '' : `: ${why}`}`, () => {
  beforeAll(async () => {
    stage = new CodeStage()
    await stage.open()
  })

  afterAll(() => stage.close())

  test.runIf(isWhole)('[PATH4] behind port-restricted routers Node and Chromium play directly', async ({ skip }) => {
    if (!hasBrowser) skip(BROWSER_ADVICE)
    const { guests, host } = await play(stage.net.addHome(1, false), stage.net.addHome(2, false))
    const both = (): Promise<Status[]> => Promise.all(guests.slice(0, 2).map((guest) => guest()))
    await until(async () => (await both()).every(({ path }) => path === 'direct'), both)
    await until(() => host.status.addresses.some((address) => address.startsWith('100.64.0.2:')), () => host.status)
    stage.relays[0]!.child.kill('SIGSTOP')
    // A relay that stands still does not matter to a direct path.
    const before = await both()
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const after = await both()
    stage.relays[0]!.child.kill('SIGCONT')
    for (const [at, { tick, isAway }] of after.entries()) {
      expect(isAway).toBe(false)
      expect(tick).toBeGreaterThan(before[at]!.tick + 64)
    }
    await stage.closeBrowsers()
  }, 180_000)

  test('[PATH6] a guest and then its host change their networks: same seat, and a direct path again', async () => {
    const host = stage.node(stage.net.addHome(6, false))
    const [, code = ''] = await host.says(/^code (\S+)$/m)
    const guest = stage.node(stage.net.addHome(7, false), code)
    for (const number of [8, 9]) stage.net.addHome(number, false)
    await until(() => guest.status.path === 'direct' && guest.status.players === 1, () => guest.status)
    const isAt = (ip: string): boolean => host.status.addresses.some((address) => address.startsWith(`${ip}:`))
    const moves = [
      () => stage.net.changeNetwork(7), () => stage.net.changeRouter(7, 8), () => stage.net.changeRouter(6, 9),
    ]
    for (const [index, move] of moves.entries()) {
      move()
      const { tick } = guest.status
      const isPlaying = (): boolean => guest.status.tick > tick + 384 && !guest.status.isAway
      const isDirect = (): boolean => guest.status.path === 'direct' && isAt(index === 0 ? '100.64.0.7' : '100.64.0.8')
      await until(() => isPlaying() && isDirect(), () => [index, guest.status, host.status])
      expect([guest.status.isSame, guest.status.end, guest.status.players]).toEqual([true, '', 1])
    }
  }, 180_000)

  test('[PATH4, PATH5] behind symmetric routers, which doctor names, matches go by relay, also if one dies', async (
    { skip },
  ) => {
    if (!hasBrowser) skip(BROWSER_ADVICE)
    const homes = [stage.net.addHome(3, true), stage.net.addHome(4, true)] as const
    const stable = stage.doctor(stage.net.addHome(5, false))
    const symmetric = stage.doctor(homes[0])
    await stable.says(/your router +has one public address for a socket, and keeps ports\n[^]*direct play +yes/)
    await symmetric.says(/your router +has another public address for each destination \(symmetric\)\n/)
    const { guests } = await play(...homes)
    const all = (): Promise<Status[]> => Promise.all(guests.map((guest) => guest()))
    for (const { path } of await all()) expect(['relay', 'websocket']).toContain(path)
    stage.relays[0]!.child.kill('SIGKILL')
    const before = await all()
    const goesOn = ({ tick, isAway }: Status, at: number): boolean => !isAway && tick > before[at]!.tick + 256
    await until(async () => (await all()).every(goesOn), all)
    const after = await all()
    expect(after.map(({ end }) => end)).toEqual(['', '', ''])
    expect([after[0]!.isSame, after[2]!.isSame]).toEqual([true, true])
    expect(after[0]!.reason).toContain('100.64.0.20')
  }, 180_000)
})
