/** The playground as a command: what it prints, and what it refuses. Real processes, real ports. */

import { createServer, type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { readArguments } from '../../games/playground/arguments.ts'
import { endPrograms, Program } from './program.ts'

const SERVER = new URL('../../games/playground/server.ts', import.meta.url)
const SLOW = { timeout: 120_000 }

afterEach(endPrograms)

test('[PLAY15] prints its address, and serves there', SLOW, async () => {
  const program = new Program(SERVER, ['--port', '0'])
  const [, url] = await program.says(/Playground +(http:\/\/localhost:\d+)\n/)
  await program.says(/Ctrl-C ends it/)
  expect(await (await fetch(`${url}/`)).text()).toContain('<title>Tickwire playground')
})

test('[PLAY15] --help explains; invalid arguments are refused with valid ones', SLOW, async () => {
  const help = new Program(SERVER, ['--help'])
  expect(await help.ended).toBe(0)
  for (const flag of ['npm start -- playground', '--port', '--host', '--help']) expect(help.said).toContain(flag)
  const wrong = new Program(SERVER, ['--speed', '9'])
  expect(await wrong.ended).toBe(2)
  expect(wrong.said).toBe(`Unknown option '--speed'\n\n${help.said}`)
  expect(readArguments(['-h', '--speed'])).toBe('help')
  expect(readArguments(['fast'])).toEqual({ problem: expect.stringContaining(`Unexpected argument 'fast'`) })
  for (const port of ['99999', '-1', '4e3', 'any', '']) {
    expect(readArguments([`--port=${port}`])).toEqual({
      problem: `--port takes a whole number from 0 to 65535, not ${JSON.stringify(port)}`,
    })
  }
  expect(readArguments(['--host='])).toEqual({ problem: expect.stringContaining('--host takes an address') })
})

test('[PLAY15] by default it is for this machine alone', () => {
  expect(readArguments([])).toEqual({ port: 4000, host: '127.0.0.1' })
  expect(readArguments(['--port', '0', '--host', '0.0.0.0'])).toEqual({ port: 0, host: '0.0.0.0' })
})

test('[PLAY15] a port in use is reported, with one to try', SLOW, async () => {
  const other = createServer()
  await new Promise<void>((resolve) => { other.listen(0, '127.0.0.1', resolve) })
  const { port } = other.address() as AddressInfo
  const program = new Program(SERVER, ['--port', `${port}`])
  expect(await program.ended).toBe(1)
  other.close()
  expect(program.said).toContain(`port ${port} of 127.0.0.1 is not available`)
  expect(program.said).toContain(`--port ${port + 10}`)
})
