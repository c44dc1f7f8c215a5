/**
 * The chat of docs/guide/transports.md: a server and two clients, each a process of its own, over real sockets.
 */

import { afterEach, expect, test } from 'vitest'
import { endPrograms, Program } from './program.ts'

const SERVER = new URL('../../docs/guide/examples/udp-chat-server.ts', import.meta.url)
const CLIENT = new URL('../../docs/guide/examples/udp-chat-client.ts', import.meta.url)

afterEach(endPrograms)

test('[UDP11] a line typed in one process is read in another, and all see joins and leaves', async () => {
  const server = new Program(SERVER, [])
  const [, number] = await server.says(/listening on \S+:(\d+)\n/)
  const alice = new Program(CLIENT, ['127.0.0.1', number!])
  const bob = new Program(CLIENT, ['127.0.0.1', number!])
  await Promise.all([alice.says(/connected to 127\.0\.0\.1:\d+\n/), bob.says(/connected to/)])
  await server.says(/is here\n[\s\S]*is here\n/)

  alice.child.stdin.write('hello over UDP\nand a second line\n')
  for (const program of [server, bob, alice])
    await program.says(/127\.0\.0\.1:\d+: hello over UDP\n[\s\S]*: and a second line\n/)
  bob.child.stdin.write('hello back\n')
  await alice.says(/: hello back\n/)

  alice.child.stdin.end()
  await alice.says(/the connection is over: left\n/)
  expect(await alice.ended).toBe(0)
  await bob.says(/is gone: left\n/)

  server.child.kill('SIGTERM')
  await bob.says(/the connection is over: shutdown\n/)
  expect(await bob.ended).toBe(0)
  expect(await server.ended).toBe(0)
}, 60_000)
