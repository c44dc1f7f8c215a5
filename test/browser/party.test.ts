/**
 * docs/guide/rooms.md, done by a machine: the game of its end, from the packed package in an empty folder, with Vite.
 */

import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, expect } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'
import { IS_LONG } from '../form.ts'
import { browserTest } from './browser-test.ts'
import { commandsOf, GuideRun } from './guide-run.ts'

const guide = new GuideRun()
const { folder, checkout } = guide
const game = join(folder, 'party')

afterAll(() => guide.end())

/** A port that was free just now: Vite and the game server must agree on it. */
async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

async function open(browser: Browser, url: string, mistakes: string[]): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  page.on('pageerror', (error) => mistakes.push(String(error)))
  page.on('console', (entry) => {
    if (entry.type() === 'warning') mistakes.push(entry.text())
  })
  await page.goto(url)
  return page
}

/** Waits until an element of the page has a text that matches. */
async function shows(page: Page, id: string, pattern: RegExp): Promise<void> {
  await expect.poll(async () => await page.locator(`#${id}`).innerText(), { timeout: 60_000 }).toMatch(pattern)
}

/** The line of the player of this page. */
async function ownLine(page: Page): Promise<string> {
  const lines = (await page.locator('#players').innerText()).split('\n')
  return lines.find((line) => line.endsWith('you')) ?? ''
}

browserTest(
  '[CHECK3, LOAD1] the party of the guide, with Vite: names, teams, chat, calls, bots, late joiners, reloads, warnings',
  async (browser) => {
    const [makeFolder, startServer, startVite, ...rest] = commandsOf('rooms.md')
    expect(rest).toEqual([])
    guide.copyCheckout()
    guide.run(checkout, commandsOf('first-game.md')[0]!)
    guide.run(folder, makeFolder!)
    cpSync(join(ROOT, 'docs/guide/examples/party'), game, { recursive: true })
    const port = await freePort()
    const serverUrl = await guide.start(game, startServer!, port)
    const url = await guide.start(game, startVite!, port)
    const mistakes: string[] = []

    // Names, teams, bots and the lobby. A bot takes no seat of a client.
    const ada = await open(browser, `${url}?name=Ada`, mistakes)
    await shows(ada, 'players', /^Bot \(\w+\) at \d+\nBot \(\w+\) at \d+\nAda \(\w+\) at \d+, you$/m)
    await shows(ada, 'players', /\(red\)[^]*\(blue\)|\(blue\)[^]*\(red\)/)
    await shows(ada, 'lobby', /^party: 1 players, 0 spectators$/)
    // A late joiner sees the player that moved before.
    await ada.keyboard.down('ArrowRight')
    await expect.poll(async () => await ownLine(ada), { timeout: 60_000 }).toContain('at 640')
    await ada.keyboard.up('ArrowRight')
    const bo = await open(browser, `${url}?name=Bo`, mistakes)
    await shows(bo, 'players', /Ada \(\w+\) at 640$/m)
    await shows(bo, 'players', /Bo \(\w+\) at 320, you/)
    // A spectator has no player, and sees all.
    const watcher = await open(browser, `${url}?watch`, mistakes)
    await shows(watcher, 'lobby', /^party: 2 players, 1 spectators$/)
    await shows(watcher, 'players', /Ada[^]*Bo /)
    expect(await ownLine(watcher)).toBe('')
    // Chat reaches all pages.
    await bo.fill('#say', 'hello')
    await bo.locator('#say').blur()
    for (const page of [ada, bo, watcher]) await shows(page, 'chat', /^Bo: hello$/m)
    // A call with a reply.
    await ada.click('#buy')
    await shows(ada, 'gold', /^sold, 8 gold left$/)
    await ada.click('#buy')
    await shows(ada, 'gold', /^not sold$/)
    // A reloaded page has its seat again: the same place, and the gold that is left.
    await ada.reload()
    await expect.poll(async () => await ownLine(ada), { timeout: 60_000 }).toMatch(/^Ada \(\w+\) at 640, you$/)
    await shows(ada, 'lobby', /^party: 2 players, 1 spectators$/)
    await ada.click('#buy')
    await shows(ada, 'gold', /^not sold$/)
    expect(mistakes).toEqual([])
    // The author makes a mistake and saves: Vite reloads the pages, and they warn, once for each mistake.
    const path = join(game, 'game.ts')
    const right = readFileSync(path, 'utf8')
    writeFileSync(path, right.replace(/Math\.max\(0, Math\.min\((.*), 640\)\)/, '$1'))
    await ada.bringToFront()
    await expect.poll(async () => {
      await ada.keyboard.down('ArrowRight')
      return mistakes.join('\n')
    }, { timeout: 60_000 }).toContain('Player.x: 646 does not fit into the field')
    expect(mistakes.filter((text) => text.includes('Player.x'))).toHaveLength(1)
    await ada.keyboard.up('ArrowRight')
    if (!IS_LONG) return
    // A page for production is served by the game server alone, and has no checks.
    guide.run(game, 'npx vite build')
    mistakes.length = 0
    const built = await open(browser, `${serverUrl}?name=Cy`, mistakes)
    await shows(built, 'players', /Cy \(\w+\) at 320, you/)
    await built.keyboard.down('ArrowRight')
    await expect.poll(async () => await ownLine(built), { timeout: 60_000 }).toContain('at 640')
    expect(mistakes).toEqual([])
    // Headless players predict with the TypeScript of the game.
    const report = guide.run(game, `npx tickwire load ${serverUrl} --game game.ts --players 2 --seconds 2`)
    expect(report).toContain('2 requested, 2 joined, 2 stayed')
    expect(report).toMatch(/corrections +\d/)
  },
)
