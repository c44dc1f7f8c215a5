/**
 * hello over real UDP: a server and two headless players, each a process of its own.
 */

import { afterEach, expect, test } from 'vitest'
import { endPrograms, Program } from './program.ts'

const SERVER = new URL('../../docs/guide/examples/own-loop/server.ts', import.meta.url)
const CLIENT = new URL('../../docs/guide/examples/own-loop/client.ts', import.meta.url)

afterEach(endPrograms)

test('[HELLO3] two players walk and see each other over UDP until one leaves and the server ends', async () => {
  const server = new Program(SERVER, [])
  const [, number] = await server.says(/listening on \S+:(\d+)\n/)
  const walker = new Program(CLIENT, [number!, 'right'])
  const watcher = new Program(CLIENT, [number!])
  await Promise.all([walker.says(/in as player \d+\n/), watcher.says(/in as player \d+\n/)])
  // Thirty steps of six from 320: the bound in the player's own view, and in the other player's view.
  await walker.says(/me 500\.0 180\.0/)
  await watcher.says(/\d+ 500\.0 180\.0/)
  await watcher.says(/me 320\.0 180\.0/)

  walker.child.kill('SIGTERM')
  await server.says(/is gone: left\n/)
  const before = watcher.said.length
  await watcher.says(new RegExp(`^[\\s\\S]{${before},}: me 320\\.0 180\\.0\\n`))

  server.child.kill('SIGTERM')
  await watcher.says(/it is over: shutdown\n/)
  expect(await watcher.ended).toBe(0)
}, 60_000)
