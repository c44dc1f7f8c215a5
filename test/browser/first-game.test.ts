/**
 * docs/guide/first-game.md, done by a machine: its commands in its order, its files, the packed package, two tabs.
 */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, expect } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'
import { browserTest } from './browser-test.ts'

const GUIDE = readFileSync(join(ROOT, 'docs/guide/first-game.md'), 'utf8')
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tickwire-guide-')))
const checkout = join(folder, 'tickwire')
const game = join(folder, 'coins')
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:npm_|VITEST|NODE_|TEST$)/i.test(name)),
)
const children: ChildProcess[] = []

afterAll(() => {
  // By group: the shell, npx and the server it started.
  for (const { pid } of children) if (pid !== undefined) process.kill(-pid)
  rmSync(folder, { recursive: true, force: true })
})

browserTest(
  'the guide to a first game ends in two tabs that see the same coins and each other walk',
  async (browser) => {
    const [makePackage, makeFolder, makePage, play, check, ...rest] = commandsOf(GUIDE)
    expect(rest).toEqual([])
    copyCheckout()
    run(checkout, makePackage!)
    run(folder, makeFolder!)
    cpSync(join(ROOT, 'docs/guide/examples/first-game'), game, { recursive: true })
    run(game, makePage!)
    expect(run(game, check!)).toContain('# pass 1')

  const url = await start(game, play!)
  const pages = [await browser.newPage(), await browser.newPage()] as const
  for (const page of pages) await page.goto(url)
  for (const page of pages) await paints(page, 'gold', 640)
  // Player 1 starts in the middle, at 320; its hue is 47.
  await pages[0].keyboard.down('ArrowLeft')
  for (const page of pages) await paints(page, 'hsl(47 80% 60%)', 200)
  for (const page of pages) await page.close()
})

/** The shell blocks of a guide, in order. */
function commandsOf(text: string): string[] {
  return Array.from(text.matchAll(/^```sh\n([\s\S]*?)^```$/gm), (match) => match[1]!)
}

/** What the guide needs of a checkout, with the dependencies of this one. */
function copyCheckout(): void {
  const isSource = (path: string): boolean => !/^(?:dist|node_modules|\.cache)$/.test(basename(path))
  mkdirSync(join(checkout, 'packages'), { recursive: true })
  for (const path of ['package.json', 'tsconfig.base.json']) cpSync(join(ROOT, path), join(checkout, path))
  cpSync(join(ROOT, 'packages/tickwire'), join(checkout, 'packages/tickwire'), { recursive: true, filter: isSource })
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
}

function run(cwd: string, commands: string): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', commands], { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${commands}\nended with ${status}\n${stdout}\n${stderr}`)
  return stdout
}

/** Starts the server on a port of its own choice; resolves to the address it prints. */
async function start(cwd: string, command: string): Promise<string> {
  const child = spawn('sh', ['-ec', command], { cwd, env: { ...env, PORT: '0' }, detached: true })
  children.push(child)
  return await new Promise((resolve, reject) => {
    let said = ''
    const hear = (chunk: Buffer): void => {
      said += String(chunk)
      const url = /http:\S+/.exec(said)?.[0]
      if (url !== undefined) resolve(url)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('exit', () => reject(new Error(`the server ended and had said: ${said}`)))
  })
}

/** Waits until the page has painted a pixel of this colour in the first `columns` of its canvas. */
async function paints(page: Page, colour: string, columns: number): Promise<void> {
  await page.waitForFunction(([wanted, width]) => {
    const probe = new OffscreenCanvas(1, 1).getContext('2d')!
    probe.fillStyle = wanted
    probe.fillRect(0, 0, 1, 1)
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data
    const { data } = document.querySelector('canvas')!.getContext('2d')!.getImageData(0, 0, width, 360)
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255) return true
    }
    return false
  }, [colour, columns] as const)
}
