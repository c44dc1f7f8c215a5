/** The configurations of deploy/proxies, with real proxies in front of a real tracker. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openStatus } from '../../packages/services/src/telemetry/status.ts'
import { serveTracker } from '../../packages/services/src/track/serve-tracker.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { mustRun } from './debian-tool.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-proxies-'))
let child: ChildProcess | undefined

afterEach(async () => {
  const ended = new Promise((resolve) => child?.once('exit', resolve))
  child?.kill('SIGTERM')
  await ended
})

test.runIf(mustRun('haproxy'))('[DEPLOY8] a tracker behind HAProxy answers', () =>
  tryProxy('haproxy.cfg', (text) => text, (file) => ['haproxy', '-db', '-f', file]))

test.runIf(mustRun('nginx'))('[DEPLOY8] a tracker behind nginx answers', () =>
  tryProxy('nginx.conf',
    (text) => `daemon off;\npid ${folder}/pid;\n${text.replace('http {', 'http {\naccess_log off;')}`,
    (file) => ['nginx', '-c', file, '-e', 'stderr']))

async function tryProxy(
  name: string, change: (text: string) => string, command: (file: string) => readonly [string, ...string[]],
): Promise<void> {
  const tracker = await serveTracker({ port: 0, address: '127.0.0.1', trustedProxies: ['127.0.0.1'] })
  const status = await openStatus(0, { registry: tracker.registry, isReady: () => true })
  const port = await freePort()
  const file = join(folder, name)
  writeFileSync(file, change(readFileSync(join(ROOT, 'deploy/proxies', name), 'utf8'))
    .replace('bind *:80', `bind 127.0.0.1:${port}`).replace('listen 80;', `listen 127.0.0.1:${port};`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${tracker.port}`).replace('port 9091', `port ${new URL(status.url).port}`))
  const [program, ...args] = command(file)
  child = spawn(program, args, { stdio: 'ignore' })
  await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/v1/listings`).catch(() => undefined))?.status, {
    timeout: 20_000,
  }).toBe(200)
  await status.close()
  await tracker.close()
}

async function freePort(): Promise<number> {
  return await new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
