import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { StaticFiles } from './static-files.ts'

let server: Server

beforeAll(async () => {
  const root = mkdtempSync(join(tmpdir(), 'tickwire-static-'))
  const folder = join(root, 'public')
  mkdirSync(join(folder, 'deep'), { recursive: true })
  writeFileSync(join(root, 'secret.txt'), 'secret')
  writeFileSync(join(folder, 'index.html'), '<p>page</p>')
  writeFileSync(join(folder, 'deep', 'game.js'), 'play()')
  writeFileSync(join(folder, '.hidden'), 'hidden')
  writeFileSync(join(folder, 'large.txt'), 'large')
  writeFileSync(join(folder, 'large.txt.gz'), gzipSync('LARGE'))
  const files = new StaticFiles(folder)
  server = createServer((request, response) => void files.answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => server.close())

/** Sends the path unchanged: clients normalise `..`, attackers do not. */
async function get(
  path: string,
  method = 'GET',
  headers: Record<string, string> = {},
): Promise<{ status: number; type: string | undefined; body: string }> {
  return await new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo
    const asking = request({ port, host: '127.0.0.1', path, method, headers }, (response) => {
      let body = ''
      response.on('data', (chunk) => { body += chunk })
      response.on('end', () => resolve({ status: response.statusCode!, type: response.headers['content-type'], body }))
    })
    asking.on('error', reject)
    asking.end()
  })
}

test('[SERVE1] files of the folder are served with their type, / is index.html', async () => {
  expect(await get('/')).toEqual({ status: 200, type: 'text/html; charset=utf-8', body: '<p>page</p>' })
  expect(await get('/deep/game.js?v=2')).toEqual({
    status: 200,
    type: 'text/javascript; charset=utf-8',
    body: 'play()',
  })
  expect((await get('/', 'HEAD')).body).toBe('')
})

test('[SERVE2] nothing outside the folder, no dotfile, no other method, and nothing throws', async () => {
  for (const path of [
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/deep/../../secret.txt',
    '/.hidden',
    '/none',
    '/deep',
    '/%00',
    '/%zz',
    '//etc/passwd',
  ]) {
    expect((await get(path)).status, path).toBe(404)
  }
  expect((await get('/', 'POST')).status).toBe(405)
})

test('[SERVE1] a compressed file beside a file is served to clients that accept it', async () => {
  expect((await get('/large.txt')).body).toBe('large')
  const packed = await get('/large.txt', 'GET', { 'accept-encoding': 'br, gzip' })
  expect(packed.type).toBe('text/plain; charset=utf-8')
  expect(packed.body).not.toContain('large')
  expect((await get('/deep/game.js', 'GET', { 'accept-encoding': 'gzip' })).body).toBe('play()')
})
