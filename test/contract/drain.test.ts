/** Services of HTTP as processes: how they end on SIGTERM, and how they count their requests. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { bundlePrograms } from '../bundle-programs.ts'
import { endPrograms, Program } from './program.ts'
import { until } from './tracker-stage.ts'

const bundle = await bundlePrograms({ tickwire: 'packages/services/src/cli/index.ts' })
const CLI = pathToFileURL(join(bundle.folder, 'tickwire.mjs'))
const folder = mkdtempSync(join(tmpdir(), 'tickwire-drain-'))
const key = join(folder, 'issuer.key')
writeFileSync(key, keyToText('issuer-secret', new Uint8Array(32).fill(7)))
writeFileSync(join(folder, 'api'), 'a-key-of-24-characters-x')
const ISSUE = ['--key', key, '--api-key', join(folder, 'api')]

afterAll(async () => {
  await endPrograms()
  bundle.remove()
  rmSync(folder, { recursive: true, force: true })
})

test.concurrent.each([
  ['track', [], 'POST /v1/listings', /^HTTP\/1\.1 400 /],
  ['issue', ISSUE, 'POST /v1/tokens', /^HTTP\/1\.1 400 /],
  ['rendezvous', [], 'POST /v1/joins', /^HTTP\/1\.1 400 /],
  ['all', ['--relay-port', '0', '--public', '127.0.0.1'], 'POST /v1/joins', /^HTTP\/1\.1 400 /],
  ['fleet', [], 'POST /match/tickets', /^HTTP\/1\.1 400 /],
] as const)('[SERV5] [SERV6] tickwire %s drains, finishes a request in flight, and counts requests', async (
  name, args, route, answer,
) => {
  const program = new Program(CLI, [name, '--port', '0', '--ops', '0', '--drain', '4s', ...args])
  const [, ops = ''] = await program.says(/status: (\S+)\/metrics/)
  const [, port = ''] = await program.says(/(?:games|tokens|rendezvous|codes|fleet): http:\/\/[\w.]+:(\d+)/)
  const own = `http://127.0.0.1:${port}`
  expect([await statusOf(`${own}/readyz`), await statusOf(`${own}/healthz`)]).toEqual([200, 200])
  expect(await statusOf(`${own}/no/such/path`)).toBe(404)
  const [method = '', path = ''] = route.split(' ')
  // The body is not whole yet when the process is asked to end.
  const slow = new SlowRequest(Number(port), method, path, '{"no":"such"}')
  await slow.begin()
  program.child.kill('SIGTERM')
  await until(async () => await statusOf(`${ops}/readyz`) === 503)
  expect(await statusOf(`${ops}/healthz`)).toBe(200)
  const { status, headers } = await fetch(`${own}/readyz`)
  expect([status, headers.get('connection')]).toEqual([503, 'close'])
  expect(await statusOf(`${own}/healthz`)).toBe(200)
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  expect(metrics).toMatch(/^tickwire_http_requests_total\{route="GET \/readyz",status="200"\} \d+$/m)
  expect(metrics).toMatch(/^tickwire_http_requests_total\{route="GET \/readyz",status="503"\} \d+$/m)
  expect(metrics).toMatch(/^tickwire_http_requests_total\{route="other",status="404"\} 1$/m)
  expect(metrics).toMatch(/^tickwire_http_seconds_bucket\{le="5",route="other"\} 1$/m)
  expect(metrics).not.toContain('such')
  // Its time is over, and it waits for one request only.
  await until(async () => await statusOf(`${own}/healthz`) !== 200)
  expect(program.child.exitCode).toBeNull()
  expect(await slow.finish()).toMatch(answer)
  expect(await program.ended).toBe(0)
})

/** The status; 0 when nothing answers. */
async function statusOf(url: string): Promise<number> {
  return await fetch(url, { headers: { connection: 'close' } }).then(({ status }) => status, () => 0)
}

/** A request whose body comes in two halves. */
class SlowRequest {
  readonly #socket
  readonly #body: string
  readonly #head: string
  #answer = ''

  constructor(port: number, method: string, path: string, body: string) {
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.on('data', (chunk) => { this.#answer += String(chunk) })
    this.#body = body
    this.#head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`
      + `content-length: ${body.length}\r\n\r\n`
  }

  /** Sends the first half. */
  async begin(): Promise<void> {
    await new Promise<void>((resolve) => { this.#socket.write(this.#head + this.#body.slice(0, 4), () => resolve()) })
  }

  /** Sends the second half, and returns the answer when the server has closed the socket. */
  async finish(): Promise<string> {
    const ended = new Promise((resolve) => this.#socket.once('close', resolve))
    this.#socket.write(this.#body.slice(4))
    await ended
    return this.#answer
  }
}
