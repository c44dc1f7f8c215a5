/** `tickwire inspect FILE --page`, as a process of its own: what it serves, and that it serves nothing else. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRecording, sourceOf } from 'tickwire'
import { ClientRecorder, MemorySink, type ClientHost } from 'tickwire/engine'
import { simulate } from 'tickwire/testing'
import { game } from '../browser-pages/devtools-game.ts'
import { endPrograms, Program } from './program.ts'

const CLI = new URL('../../packages/tickwire/src/cli/index.ts', import.meta.url)
let folder: string

beforeAll(() => {
  folder = mkdtempSync(`${tmpdir()}/inspect-`)
  const sim = simulate(game, { seed: 2, clients: 1, link: { latencyMs: 30 } })
  const sink = new MemorySink()
  const recorder = new ClientRecorder(sim.players[0]!.host as unknown as ClientHost, sink)
  const server = sim.host.record()
  sim.hold(0, { right: true })
  sim.run(1500)
  recorder.close()
  writeFileSync(`${folder}/client.twr`, sink.bytes())
  writeFileSync(`${folder}/server.twr`, server.save()!)
})
afterAll(async () => {
  await endPrograms()
  rmSync(folder, { recursive: true })
})

test(
  '[DEV6, DOOR11] S10: the command serves the page and its data, to this machine only, and can be ended',
  { timeout: 60_000 },
  async () => {
    const program = new Program(CLI, ['inspect', `${folder}/client.twr`, '--page', '--server', `${folder}/server.twr`])
    const [, url] = await program.says(/is at (http:\/\/127\.0\.0\.1:\d+\/)/)
    // reason: JSON of the page's own server, whose every field is compared below.
    const ask = async (path: string): Promise<any> => await (await fetch(new URL(path, url))).json()
    expect(await (await fetch(url!)).text()).toContain('tickwire inspect')
    expect((await fetch(new URL('page.js', url))).headers.get('content-type')).toContain('text/javascript')
    const { first, last, peer, mistakes, fields } = await ask('api/summary')
    expect([peer, last > first, fields['header.magic'], mistakes]).toEqual([
      1,
      true,
      'the letters TKW',
      expect.any(Array),
    ])
    const packets = await ask('api/packets')
    const sent = packets.find(({ entries }: { entries: number }) => entries > 0)
    const packet = await ask(`api/packet?n=${sent.number}`)
    expect(packet.bits[0]).toEqual({ at: 0, length: 24, name: 'header.magic', where: 'header', value: 'TKW' })
    const { predicted, received: shown, authority, held, used } = await ask(`api/tick?t=${last - 30}`)
    expect([predicted.length, shown.length > 0, authority.length > 0]).toEqual([1, true, true])
    expect(used).toEqual(held)
    for (const path of ['api/nothing', 'api/packet?n=999999', '../inspect.ts', 'no.html'])
      expect((await fetch(new URL(path, url))).status, path).toBe(404)
    // A page whose name resolves to this machine asks by that name.
    for (const path of ['/', '/api/summary']) {
      expect(
        [
          await statusFor(new URL(path, url), 'evil.example'),
          await statusFor(new URL(path, url), `localhost:${new URL(url!).port}`),
        ],
        path,
      ).toEqual([421, 200])
    }
    program.child.kill('SIGINT')
    expect(await program.ended).toBe(0)
  },
)

function statusFor(url: URL, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    }).on('error', reject)
  })
}

test('[DEV6] a file that is not a recording is refused in a sentence', { timeout: 60_000 }, async () => {
  writeFileSync(`${folder}/nothing.twr`, 'nothing')
  const program = new Program(CLI, ['inspect', `${folder}/nothing.twr`, '--page'])
  await program.says(/is not a recording/)
  expect(await program.ended).toBe(2)
})

test('[DEV6] a host that records without a file keeps the last minute, and returns it as a file', () => {
  const sim = simulate(game, { seed: 4, clients: 1 })
  const recorder = sim.host.record()
  sim.run(65_000)
  const recording = openRecording(sourceOf(recorder.save()!))
  if (typeof recording === 'string') throw new Error(recording)
  const seconds = (sim.host.world.tick - recording.chunks[0]!.tick) / 60
  expect(seconds).toBeGreaterThan(59)
  expect(seconds).toBeLessThan(63)
  expect(sim.host.record(new MemorySink()).save()).toBeUndefined()
})
