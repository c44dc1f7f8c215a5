/**
 * hello over real UDP: a server and two headless players, each a process of its own.
 */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'

const SERVER = new URL('../../docs/guide/examples/own-loop/server.ts', import.meta.url)
const CLIENT = new URL('../../docs/guide/examples/own-loop/client.ts', import.meta.url)

class Program {
  readonly child: ChildProcessWithoutNullStreams
  said = ''
  readonly ended: Promise<number | null>

  constructor(file: URL, args: readonly string[]) {
    this.child = spawn(process.execPath, ['--conditions=tickwire-source', '--import', 'tsx', fileURLToPath(file), ...args], {
      env: { ...process.env, PORT: '0' },
    })
    const hear = (chunk: Buffer): void => {
      this.said += String(chunk)
    }
    this.child.stdout.on('data', hear)
    this.child.stderr.on('data', hear)
    this.ended = new Promise((resolve) => this.child.once('exit', resolve))
    programs.push(this)
  }

  /** Waits until it has said something like that. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (let waited = 0; waited < 20_000; waited += 20) {
      const found = pattern.exec(this.said)
      if (found !== null) return found
      if (this.child.exitCode !== null) break
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error(`waited for ${pattern} and heard:\n${this.said}`)
  }
}

const programs: Program[] = []

afterEach(async () => {
  for (const { child } of programs) child.kill('SIGKILL')
  await Promise.all(programs.splice(0).map(({ ended }) => ended))
})

test('[HELLO3] two players walk and see each other over UDP, three processes in all; who leaves is gone, and the end is told', async () => {
  const server = new Program(SERVER, [])
  const [, number] = await server.says(/listening on \S+:(\d+)\n/)
  const walker = new Program(CLIENT, [number!, 'right'])
  const watcher = new Program(CLIENT, [number!])
  await Promise.all([walker.says(/in as player \d+\n/), watcher.says(/in as player \d+\n/)])
  // Thirty steps of six from 320: on the bound of what he sees himself, and of what the other sees of him.
  await walker.says(/me 500\.0 180\.0/)
  await watcher.says(/\d+ 500\.0 180\.0/)
  await watcher.says(/me 320\.0 180\.0/)

  walker.child.kill('SIGTERM')
  await server.says(/is gone: left\n/)
  const heard = watcher.said.length
  await watcher.says(new RegExp(`^[\\s\\S]{${heard},}: me 320\\.0 180\\.0\\n`))

  server.child.kill('SIGTERM')
  await watcher.says(/it is over: shutdown\n/)
  expect(await watcher.ended).toBe(0)
}, 60_000)
