/**
 * One match of three pages in which everything breaks: a line is cut, a bit of a live world is flipped, the process of
 * the relay is killed. The recording of it verifies, and an altered one does not.
 */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { DesyncFinding, DesyncReport } from 'tickwire/lockstep'
import { bestProvider } from 'tickwire/node'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { Cable } from '../contract/cable.ts'
import { startGroup, type GroupProcess } from '../contract/relay-group.ts'
import { browserTest } from './browser-test.ts'
import { PageFolder } from './page-folder.ts'

const CLI = fileURLToPath(new URL('../../packages/tickwire/src/cli/index.ts', import.meta.url))
const GAME = fileURLToPath(new URL('../sim/lockstep-game.ts', import.meta.url))
const KEYS = [1, 2].map((byte) =>
  keyToText('server-public', bestProvider().importSigning(new Uint8Array(32).fill(byte)).publicKey))

interface Seen {
  readonly reports: DesyncReport[]
  readonly hashes: (string | null)[]
  readonly tick: number
  readonly isOver: boolean
}

let pagesFolder: PageFolder
let replays = ''
let group: readonly GroupProcess[] = []
let cable: Cable | undefined

beforeAll(async () => {
  pagesFolder = await PageFolder.build({ match: new URL('../browser-pages/desync-page.ts', import.meta.url) })
  replays = mkdtempSync(join(tmpdir(), 'tickwire-broken-'))
})
afterAll(() => {
  cable?.close()
  for (const { child } of group) child.kill('SIGKILL')
  pagesFolder.remove()
  rmSync(replays, { recursive: true, force: true })
})

async function look(page: Page): Promise<Seen> {
  return await page.evaluate('match.look()') as Seen
}

/** All pages step on, and every tick that two pages stepped has the same hash, from one on. */
async function expectSame(pages: readonly Page[], from: number): Promise<void> {
  const { tick } = await look(pages[0]!)
  for (const page of pages) await page.waitForFunction(`match.look().tick > ${tick + 60}`)
  const [first, ...others] = await Promise.all(pages.map(look))
  for (const { hashes } of others)
    for (let at = from; at <= tick + 60; at++) {
      const [own, other] = [first!.hashes[at], hashes[at]]
      if (own != null && other != null) expect(other, `tick ${at}`).toBe(own)
    }
}

/** The program `tickwire`. */
function tickwire(...args: string[]): { readonly code: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath, ['--conditions=tickwire-source', '--import', 'tsx', CLI, ...args], { encoding: 'utf8' },
  )
  return { code: status, said: stdout + stderr }
}

/** Cuts a line for ten seconds. The page comes back into its seat, and no other page waits. */
async function cutLine(line: Cable, far: Page, pages: readonly Page[]): Promise<void> {
  const [good] = pages as [Page]
  const before = (await look(good)).tick
  await line.cut(10_000)
  expect((await look(good)).tick).toBeGreaterThan(before + 200)
  await far.waitForFunction('!match.lineState().isAway')
  expect(await far.evaluate('match.lineState().aways')).toBeGreaterThan(0)
  await expectSame(pages, 1)
}

/** Flips one bit of a live column of the second page. Returns a tick after which all worlds are equal again. */
async function flipBit(pages: readonly Page[], player: number): Promise<number> {
  const [good, bad, far] = pages as [Page, Page, Page]
  const changed = await bad.evaluate('match.corrupt()') as { id: number; before: number; after: number }
  const { tick: flippedAt } = await look(bad)
  await good.waitForFunction('match.look().reports.length > 0')
  const { reports: [report] } = await look(good)
  expect(report).toMatchObject({ verdict: 'majority', diverged: [{ player, outcome: 'healed' }] })
  const { differences, trace } = report!.diverged[0]!.finding as DesyncFinding
  expect(differences).toMatchObject([{ in: 'field', entity: 'Unit', id: changed.id, field: 'hp' }])
  expect(differences[0]!.values![0]).toBe(String(changed.after))
  expect(trace).toMatchObject({ kind: 'outside' })
  await expectSame([good, far], 1)
  await expectSame(pages, flippedAt + 60)
  return flippedAt + 60
}

/** Kills the process of the relay. The match goes on at the other one. */
async function kill({ child }: GroupProcess, pages: readonly Page[], equalFrom: number): Promise<void> {
  child.removeAllListeners('exit')
  child.kill('SIGKILL')
  const isBack = 'match.lineState().continued.length > 0 && !match.lineState().isAway'
  for (const page of pages) await page.waitForFunction(isBack)
  const continued = await Promise.all(pages.map((page) => page.evaluate('match.lineState().continued')))
  expect(continued[1]).toEqual(continued[0])
  expect(continued[2]).toEqual(continued[0])
  for (const page of pages) expect(await page.evaluate('match.give()')).toBe('sent')
  await expectSame(pages, equalFrom)
  const seen = await Promise.all(pages.map(look))
  expect(seen.map(({ isOver, reports }) => [isOver, reports.length])).toEqual([[false, 1], [false, 1], [false, 1]])
}

/** The recording is genuine, and steps to the same worlds. An altered byte is found, wherever it is. */
async function verifyAndAlter(): Promise<void> {
  let path = ''
  const verified = (): string => {
    // The name of a match that was handed over has the tick, behind the seed.
    path = join(replays, readdirSync(replays).sort((a, b) => b.length - a.length)[0] ?? '')
    const { code, said } = tickwire('verify', path, '--key', KEYS[0]!, '--key', KEYS[1]!, '--step', GAME)
    return `${code}: ${said.replaceAll('\n', ' ')}`
  }
  await expect.poll(verified, { timeout: 60_000, interval: 2000 })
    .toMatch(/^0: (\d+) ticks, \1 sealed .* continued from tick .* are equal .*genuine $/)
  expect(tickwire('verify', path, '--tick', '100').said).toMatch(/^genuine: tick 100 /)

  const bytes = new Uint8Array(readFileSync(path))
  const altered = join(replays, 'altered.twr')
  for (const at of [0.3, 0.6].map((part) => Math.floor(part * bytes.length))) {
    writeFileSync(altered, bytes.map((byte, each) => each === at ? byte ^ 1 : byte))
    const { code, said } = tickwire('verify', altered, '--key', KEYS[1]!)
    expect([code, said.includes('NOT genuine')], said).toEqual([1, true])
  }
}

browserTest('[DESYNC14] a cut line, a flipped bit and a killed relay in one match, which verifies', async (browser) => {
  group = await startGroup(2, pagesFolder.path, replays)
  const [first] = group as [GroupProcess]
  cable = await Cable.to(Number(new URL(first.url).port))
  const pages = await Promise.all([0, 1, 2].map(async () => {
    const page = await browser.newPage()
    await page.goto(first.url)
    return page
  }))
  const players: number[] = []
  for (const page of pages) {
    const url = page === pages[2] ? `http://127.0.0.1:${cable.port}` : first.url
    players.push(await page.evaluate(`match.join(${JSON.stringify(url)})`) as number)
  }
  for (const page of pages) expect(await page.evaluate('match.give()')).toBe('sent')
  await expectSame(pages, 1)

  await cutLine(cable, pages[2]!, pages)
  const equalFrom = await flipBit(pages, players[1]!)
  await kill(first, pages, equalFrom)
  for (const page of pages) await page.evaluate('match.leave()')
  await verifyAndAlter()
}, 300_000)
