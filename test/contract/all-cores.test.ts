import { availableParallelism } from 'node:os'
import { afterEach, expect, test, vi } from 'vitest'
import { endPrograms, Program } from './program.ts'

vi.setConfig({ testTimeout: 120_000 })
afterEach(endPrograms)

test('[OPS4] the program of the guide serves rooms on all cores, and a signal ends it cleanly', async () => {
  const program = new Program(new URL('../../docs/guide/examples/all-cores.ts', import.meta.url), [])
  const count = availableParallelism()
  await program.says(new RegExp(`(rooms at \\S+[^]*){${count}}`))
  const urls = [...program.said.matchAll(/rooms at (\S+)/g)].map(([, url]) => url!)
  expect(new Set(urls).size).toBe(count)
  for (const url of urls) expect(await (await fetch(`${url}/tickwire/rooms`)).json()).toEqual([])
  program.child.kill('SIGTERM')
  expect(await program.ended).toBe(0)
})
