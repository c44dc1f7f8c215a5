/** Two players of a ranked match, and a relay process that has the game: it decides which of two states is right. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { relay, type DesyncReport } from 'tickwire/lockstep'
import { connect } from 'tickwire/node'
import { game, Spawn, Unit } from '../sim/lockstep-game.ts'
import { endPrograms, Program } from './program.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-referee-'))
afterAll(async () => {
  await endPrograms()
  rmSync(folder, { recursive: true, force: true })
})

async function until(isTrue: () => boolean, msMax = 20_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 10) })
  }
}

test('[DESYNC2] a relay process with the game decides between two players, and heals the wrong one', async () => {
  const server = new URL('./lockstep-server-process.ts', import.meta.url)
  const program = new Program(server, ['', '-', folder, '', 'referee'])
  const [, , udp = ''] = await program.says(/http (\S+) udp (\S+)/)
  const hashes: string[][] = [[], []]
  const rooms = await Promise.all(hashes.map(async (own) => await connect(game, relay(udp), {
    runner: { onTick: (tick, low, high) => { own[tick] = `${high}.${low}` } },
  })))
  await until(() => rooms.every(({ players, tick }) => players.length === 2 && tick > 40))
  for (const room of rooms) expect(room.order(Spawn, { count: 2 })).toBe('sent')
  // The second player: without a referee the first one would count as right.
  const wrong = rooms.toSorted((a, b) => b.player - a.player)[0]!
  await until(() => wrong.world.count(Unit) >= 12)
  const unit = [...wrong.world.each(Unit)][2]!
  const before = unit.hp
  unit.hp = before ^ 64
  await until(() => readdirSync(folder).length > 0)
  const report = JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]!), 'utf8')) as DesyncReport
  expect(report).toMatchObject({ verdict: 'referee', diverged: [{ player: wrong.player, outcome: 'healed' }] })
  expect(report.diverged[0]!.finding).toMatchObject({ differences: [{ entity: 'Unit', field: 'hp' }] })
  // The match goes on with equal worlds, which a ranked match of two without a referee would not.
  const healed = Math.max(...rooms.map(({ tick }) => tick)) + 1
  await until(() => rooms.every(({ tick }) => tick > healed + 30))
  for (let tick = healed; tick < healed + 30; tick++) expect(hashes[0]![tick], `tick ${tick}`).toBe(hashes[1]![tick])
  for (const room of rooms) {
    expect(room.isOver).toBe(false)
    room.leave()
  }
}, 60_000)
