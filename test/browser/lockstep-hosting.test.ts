/** A lockstep match that a page hosts in a Worker: its guests are in frames, and reach the relay by MessagePorts. */

import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { browserTest } from './browser-test.ts'
import { PageFolder } from './page-folder.ts'

let folder: PageFolder
let url = ''
let server: Server | undefined

const FILES = ['index.html', 'guest.html', 'match.js', 'relay-worker.js']

beforeAll(async () => {
  folder = await PageFolder.build({
    match: new URL('../browser-pages/hosting-page.ts', import.meta.url),
    'relay-worker': new URL('../browser-pages/relay-worker.ts', import.meta.url),
  })
  const script = '<!doctype html><script src="/match.js"></script>'
  folder.write('guest.html', script)
  folder.write('index.html', `${script}${'<iframe src="/guest.html"></iframe>'.repeat(2)}`)
  server = createServer(({ url: path = '/' }, response) => {
    const type = path.endsWith('.js') ? 'text/javascript' : 'text/html'
    const name = path === '/' ? 'index.html' : path.slice(1)
    if (!FILES.includes(name)) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': type }).end(readFileSync(join(folder.path, name)))
  })
  await new Promise<void>((resolve) => { server?.listen(0, '127.0.0.1', resolve) })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterAll(() => {
  server?.close()
  folder.remove()
})

browserTest('[LOCK61] a page hosts a match in a Worker, and frames play in it with equal hashes', async (browser) => {
  const page = await browser.newPage()
  await page.goto(url)
  expect(await page.evaluate('match.open()')).toBe(1)
  const guests = page.frames().slice(1)
  for (const [frame, guest] of guests.entries()) {
    await page.evaluate(`match.invite(${frame})`)
    await guest.waitForFunction('match.player() > 0')
  }
  expect(await Promise.all(guests.map((guest) => guest.evaluate('match.player()')))).toEqual([2, 3])
  const frames = page.frames()
  for (let round = 0; round < 12; round++) {
    expect(await frames[round % 3]!.evaluate(`match.give(${round})`)).toBe('sent')
    await page.waitForTimeout(50)
  }
  // A fast machine is done with the orders after a few ticks.
  await page.waitForFunction('match.look().length > 20')
  const at = (await page.evaluate('match.look()') as string[]).length
  const seen: string[][] = []
  for (const frame of frames) {
    await frame.waitForFunction(`match.look().length >= ${at}`)
    seen.push((await frame.evaluate('match.look()') as string[]).slice(0, at))
  }
  for (const hashes of seen) expect(hashes).toEqual(seen[0])
  expect(new Set(seen[0]).size).toBe(at)
  await page.evaluate('match.leave()')
  for (const frame of frames) await frame.waitForFunction('match.isOver()')
})
