/** What the players of the games in games/ see while their server is gone. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import type { Game, Shape } from 'tickwire'
import { serve } from 'tickwire/node'
import { game as arena } from '../../games/arena/game.ts'
import { game as hello } from '../../games/hello/game.ts'
import { game as shmup } from '../../games/shmup/game.ts'
import { buildPage } from '../../tools/page.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { endPrograms, Program } from '../contract/program.ts'
import { browserTest } from './browser-test.ts'

const GAMES = join(ROOT, 'games')
const folder = mkdtempSync(join(tmpdir(), 'tickwire-banners-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The page of each game, as it is opened to join without a menu. */
const PAGES: readonly (readonly [name: string, game: Game<Shape>, query: string])[] = [
  ['arena', arena as unknown as Game<Shape>, '?norender&play'],
  ['hello', hello as unknown as Game<Shape>, ''],
  ['shmup', shmup as unknown as Game<Shape>, '?play'],
]

test('[BACK4] every page of games/ that joins a server shows the banner', () => {
  const joins = readdirSync(GAMES, { encoding: 'utf8', recursive: true })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .map((path) => [path, readFileSync(join(GAMES, path), 'utf8')] as const)
    .filter(([, text]) => /import \{[^}]*\bconnect\b[^}]*\} from 'tickwire\/browser'/.test(text))
  const withoutBanner = joins.filter(([, text]) => !/\bwithBanner\(/.test(text)).map(([path]) => path)
  // A place to play, which the page of skirmish enters like its other places: with the banner.
  expect(withoutBanner).toEqual(['skirmish/page/fog-room.ts'])
  const games = [...new Set(joins.map(([path]) => path.split('/')[0]))].sort()
  expect(games).toEqual([...PAGES.map(([name]) => name), 'skirmish'])
})

for (const [name, game, query] of PAGES) {
  browserTest(`[BACK4] ${name} shows a player that the connection is lost`, async (browser) => {
    await buildPage(join(GAMES, name))
    // With `keepRooms` a drained server closes without a goodbye, as a killed one does.
    const serving = await serve(game, {
      port: 0, static: join(GAMES, name, 'public'), keepRooms: join(folder, `${name}.json`), log: () => {},
      ops: false, signals: false, maxSpectators: 2,
    })
    try {
      const page = await browser.newPage()
      await page.goto(`${serving.url}/${query}`)
      await expect.poll(() => serving.host.peers.length, { timeout: 60_000 }).toBe(1)
      const banner = page.locator('.tickwire-banner:visible')
      expect(await banner.count()).toBe(0)
      await serving.drain()
      await expect.poll(async () => await banner.allInnerTexts(), { timeout: 30_000 })
        .toEqual(['Connection lost. Reconnecting…'])
    } finally {
      await serving.close()
    }
  })
}

browserTest('[BACK4] skirmish, a lockstep game, shows a player that the connection is lost', async (browser) => {
  const home = join(GAMES, 'skirmish')
  await buildPage(home)
  const server = new Program(pathToFileURL(join(home, 'server.ts')), ['--port', '0'], home)
  try {
    const [url] = await server.says(/http:\S+/)
    const page = await browser.newPage()
    await page.goto(`${url}/?play`)
    await expect.poll(() => page.evaluate('globalThis.skirmish?.hand.seat >= 0'), { timeout: 60_000 }).toBe(true)
    const banner = page.locator('.tickwire-banner:visible')
    expect(await banner.count()).toBe(0)
    server.child.kill('SIGKILL')
    await expect.poll(async () => await banner.allInnerTexts(), { timeout: 30_000 })
      .toEqual(['Connection lost. Reconnecting…'])
  } finally {
    await endPrograms()
  }
})
