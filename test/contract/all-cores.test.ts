import { availableParallelism } from 'node:os'
import { afterEach, expect, test, vi } from 'vitest'
import { endPrograms, Program } from './program.ts'

vi.setConfig({ testTimeout: 120_000 })
afterEach(endPrograms)

test('[OPS4] the program of the guide serves rooms on all cores, and a signal ends it cleanly', async () => {
  const program = new Program(new URL('../../docs/guide/examples/all-cores.ts', import.meta.url), [])
  const [, url, count] = await program.says(/rooms at (\S+), in (\d+) processes/)
  expect(Number(count)).toBe(availableParallelism())
  expect(await (await fetch(`${url}/tickwire/rooms`)).json()).toEqual([])
  expect(program.said.match(/rooms at/g)).toHaveLength(1)
  program.child.kill('SIGTERM')
  expect(await program.ended).toBe(0)
})
