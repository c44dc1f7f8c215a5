/** A lockstep match of two pages and a process of Node, through a relay in a process of its own. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect } from 'vitest'
import { connect } from 'tickwire/node'
import { relay } from 'tickwire/lockstep'
import { endPrograms, Program } from '../contract/program.ts'
import { game, Spawn } from '../sim/lockstep-game.ts'
import { browserTest } from './browser-test.ts'

let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-lockstep-'))
  await build({
    entryPoints: [fileURLToPath(new URL('../browser-pages/lockstep-page.ts', import.meta.url))],
    outfile: join(folder, 'match.js'),
    bundle: true,
    format: 'iife',
    globalName: 'match',
    conditions: ['tickwire-source'],
  })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><script src="/match.js"></script>')
})
afterAll(async () => {
  await endPrograms()
  rmSync(folder, { recursive: true, force: true })
})

browserTest('[LOCK28] two pages and a process of Node have equal hashes at every tick', async (browser) => {
  const program = new Program(new URL('../contract/lockstep-server-process.ts', import.meta.url), [folder])
  const [, http = '', udp = ''] = await program.says(/http (\S+) udp (\S+)/)
  const hashes: string[] = []
  const node = await connect(game, relay(udp), {
    runner: { onTick: (tick, low, high) => { hashes[tick] = `${high}.${low}` } },
  })
  const pages = await Promise.all([0, 1].map(async () => {
    const page = await browser.newPage()
    await page.goto(http)
    return page
  }))
  const players: unknown[] = [node.player]
  for (const page of pages) players.push(await page.evaluate(`match.join(${JSON.stringify(http)})`))
  expect(new Set(players).size).toBe(3)
  for (let round = 0; round < 15; round++) {
    expect(await pages[round % 2]!.evaluate(`match.give(${round})`)).toBe('sent')
    expect(node.order(Spawn, { count: 1 })).toBe('sent')
    await new Promise((resolve) => { setTimeout(resolve, 80) })
  }
  const at = node.tick
  const seen: string[][] = []
  for (const page of pages) {
    await page.waitForFunction(`match.look().length >= ${at}`)
    seen.push(await page.evaluate('match.look()') as string[])
  }
  expect(at).toBeGreaterThan(30)
  for (const ofPage of seen) expect(ofPage.slice(0, at)).toEqual(hashes.slice(1, at + 1))
  node.leave()
})
