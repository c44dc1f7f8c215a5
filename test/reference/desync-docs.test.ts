/** The code of the guides "When two machines disagree" and "Replays" runs. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { LocalFeed, LockstepRunner, relay } from 'tickwire/lockstep'
import { connect } from 'tickwire/node'
import { startTickwire } from '../../packages/tickwire/src/cli/run.ts'
import { systemEntropy } from '../../packages/tickwire/src/node/entropy.ts'
import { keepLog, serveMatches, summary, testGame } from '../../docs/guide/examples/desync.ts'
import { game, Unit } from '../../docs/guide/examples/lockstep/game.ts'
import { serveRecorded, watch } from '../../docs/guide/examples/replays.ts'

const GAME = fileURLToPath(new URL('../../docs/guide/examples/lockstep/game.ts', import.meta.url))

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    if (tries > 1000) throw new Error(`never true: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 10) })
  }
}

test('[DESYNC2, DESYNC5] a served match of the guide writes a report, and its log has one line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-guide-'))
  const lines: string[] = []
  const serving = await serveMatches(folder, (line) => { lines.push(line) })
  try {
    const rooms = [await connect(game, relay(serving.url)), await connect(game, relay(serving.url))]
    await until(() => rooms.every(({ tick }) => tick > 20))
    const [unit] = [...rooms[0]!.world.each(Unit)]
    unit!.at.x = 99
    await until(() => lines.length > 0)
    expect(lines[0]).toMatch(/^tick \d+, player \d+ \(referee, healed\): tick \d+: Unit \d+, at, .* against /)
    const [file = ''] = readdirSync(folder)
    const report = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Parameters<typeof summary>[0]
    expect(summary(report)).toEqual(lines)
    for (const room of rooms) room.leave()
  } finally {
    await serving.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('[DESYNC10] the nets of the guide pass its game, and its log has an image', () => {
  expect(testGame()).toBe(300)
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-guide-'))
  const images: string[] = []
  const runner = new LockstepRunner(game, new LocalFeed({ tickRate: 30, seed: 7, players: 2 }))
  const log = keepLog(runner as never, folder, (path) => { images.push(path) })
  for (let now = 0; runner.tick < 310; now += 40) runner.update(now)
  log.close()
  expect(images).toEqual([`${folder}/desync_7_300.snap`])
  expect(readFileSync(join(folder, 'order-log.bin')).length).toBeGreaterThan(2000)
  rmSync(folder, { recursive: true, force: true })
})

test('[SEAL1, SEAL5, SEAL6] a served match of the guide is recorded, verified, and watched from its file', async () => {
  const keys = mkdtempSync(join(tmpdir(), 'tickwire-guide-keys-'))
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-guide-'))
  const tickwire = async (...args: string[]): Promise<number> =>
    await startTickwire(args, { print: () => {}, complain: () => {}, nowSeconds: () => 0, entropy: systemEntropy })
  expect(await tickwire('token', 'keys', '--out', keys)).toBe(0)
  const serving = await serveRecorded(folder, join(keys, 'server.key'))
  try {
    const room = await connect(game, relay(serving.url))
    await until(() => room.tick > 130)
    room.leave()
    await until(() => readdirSync(folder).length > 0)
  } finally {
    await serving.close()
  }
  const [file = ''] = readdirSync(folder)
  await until(() => readFileSync(join(folder, file)).length > 300)
  const own = ['verify', join(folder, file), '--key', join(keys, 'server.pub')]
  expect(await tickwire(...own)).toBe(0)
  expect(await tickwire(...own, '--tick', '100')).toBe(0)
  expect(await tickwire(...own, '--step', GAME)).toBe(0)
  // A server with another key.
  expect(await tickwire('token', 'keys', '--out', keys, '--force')).toBe(0)
  expect(await tickwire(...own)).toBe(1)
  const shown = await watch(new Uint8Array(readFileSync(join(folder, file))))
  expect(shown.seek(60)).toBe(true)
  expect(shown.tick).toBeGreaterThanOrEqual(60)
  shown.leave()
  rmSync(keys, { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
})
