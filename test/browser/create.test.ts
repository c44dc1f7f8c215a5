/**
 * `npm create tickwire`, done by a machine: the packed program makes a game in an empty folder, and two tabs play it.
 */

import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'
import { IS_LONG } from '../form.ts'
import { browserTest } from './browser-test.ts'
import { commandsOf, GuideRun, VERSION } from './guide-run.ts'

const guide = new GuideRun()
const { folder, checkout } = guide
const TEMPLATES = readdirSync(join(ROOT, 'packages/create-tickwire/templates')).filter((name) => name !== '_shared')
/** Saving a file of the game with two tabs open takes at most this long until both play again. */
const BACK_MS = 3000

beforeAll(() => {
  guide.copyCheckout()
  cpSync(join(ROOT, 'packages/create-tickwire'), join(checkout, 'packages/create-tickwire'), { recursive: true })
  guide.run(checkout, commandsOf('create.md')[0]!)
  guide.run(folder, `mkdir program && tar xzf create-tickwire-${VERSION}.tgz -C program`)
}, 180_000)

afterAll(() => guide.end())

/** Runs the packed program, as npm does. */
function create(options: string): string {
  const program = 'node program/package/bin/create-tickwire.mjs'
  return guide.run(folder, `${program} ${options} --tickwire file:tickwire-${VERSION}.tgz`)
}

/** More pixels than fewer players can have, by the number of players. */
const PIXELS_OF = { 1: 200, 2: 550 } as const

async function open(browser: Browser, url: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(url)
  return page
}

/** Whether a page draws so many players that stand apart: of 256 pixels each, and at most 228 of its own outline. */
async function draws(page: Page, players: keyof typeof PIXELS_OF): Promise<boolean> {
  return await page.evaluate((least) => {
    const canvas = document.querySelector('canvas')!
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
    let lit = 0
    for (let at = 3; at < data.length; at += 4) lit += +(data[at]! > 0)
    return lit >= least
  }, PIXELS_OF[players])
}

/** Plays `hello` in two tabs: both see two players that stand apart. */
browserTest('[CREATE1, CREATE2] a new game plays in two tabs, and a saved file keeps the match', async (browser) => {
  const from = performance.now()
  const said = guide.run(folder, `${commandsOf('create.md')[1]!} 2>&1`)
  expect(said).toContain('npm run dev')
  // npm warns of packages whose scripts it does not run, unless the game says so.
  expect(said).not.toContain('install-scripts')
  const game = join(folder, 'my-game')
  const url = await guide.start(folder, commandsOf('create.md')[2]!)
  const tabs = [await open(browser, url), await open(browser, url)]
  await tabs[0]!.bringToFront()
  await tabs[0]!.keyboard.down('ArrowRight')
  for (const tab of tabs) await expect.poll(() => draws(tab, 2), { timeout: 30_000 }).toBe(true)
  await tabs[0]!.keyboard.up('ArrowRight')
  expect(performance.now() - from, 'ms from the command to playing').toBeLessThan(60_000)

  for (const tab of tabs) await tab.evaluate(() => { document.title = 'before' })
  const path = join(game, 'game.ts')
  const saved = performance.now()
  writeFileSync(path, readFileSync(path, 'utf8').replace('SPEED = 6', 'SPEED = 8'))
  for (const tab of tabs) {
    await tab.bringToFront()
    // Two players apart: a new match would have both in the middle.
    const isBack = async (): Promise<boolean> => await tab.title() !== 'before' && await draws(tab, 2)
    await expect.poll(isBack, { timeout: 20_000 }).toBe(true)
  }
  expect(performance.now() - saved, 'ms until both tabs play again').toBeLessThan(BACK_MS)
})

test.each(TEMPLATES)('[CREATE3] the test of the template %s passes', (template) => {
  const game = join(folder, `game-${template}`)
  if (IS_LONG) {
    const services = template === 'peer' ? `--services file:${guide.packServices()}` : ''
    create(`${game} --yes --template ${template} ${services}`)
    guide.run(game, 'npm run check && npm run build')
  } else {
    // The test needs the engine, which the first game has, and a physics engine, which the checkout has.
    create(`${game} --yes --template ${template} --no-install`)
    const physics = 'node_modules/@dimforge/rapier2d-deterministic-compat'
    // A copy: `npm prune` of CREATE6 follows links, and would remove the package of the checkout.
    cpSync(join(ROOT, physics), join(folder, 'my-game', physics), { recursive: true })
    symlinkSync(join(folder, 'my-game/node_modules'), join(game, 'node_modules'))
  }
  expect(guide.run(game, 'npm test')).toMatch(/^# pass 1$/m)
}, 300_000)

test('[CREATE6] npm start is for production, and needs no package for development', async () => {
  const game = join(folder, 'my-game')
  guide.run(game, 'npm run build && npm prune --omit=dev --no-audit --no-fund')
  expect(existsSync(join(game, 'node_modules/vite'))).toBe(false)
  expect(existsSync(join(ROOT, 'node_modules/@dimforge/rapier2d-deterministic-compat/package.json'))).toBe(true)
  const server = join(game, 'server.ts')
  writeFileSync(server, readFileSync(server, 'utf8').replace('{host.url}', '{host.url}/?${process.env.NODE_ENV}'))
  const url = await guide.start(game, 'npm start')
  expect(url).toMatch(/\?production$/)
  expect(await (await fetch(url)).text()).toContain('<script type="module"')
}, 60_000)

test('[CREATE4] a mistake on the command line is named with its fix', () => {
  expect(() => create('my-game --yes')).toThrow(/is not empty\. Fix: give another folder/)
  expect(() => create('other --template nope')).toThrow(/--template: unknown \(expected hello, rooms, .*; got nope\)/)
  expect(guide.run(folder, 'node program/package/bin/create-tickwire.mjs --help')).toContain('--template NAME')
})
