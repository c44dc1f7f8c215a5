import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRecording, sourceOf, Theatre } from 'tickwire'
import { simulate } from 'tickwire/testing'
import { game, Player } from '../../docs/guide/examples/first-game/game.ts'
import { Highlights, LateMatch, placesAt, recordMatch, showRecording } from '../../docs/guide/examples/recording.ts'
import { profileBattle, profileCodec, profileRates } from './bandwidth-battle.ts'

test('[REC16] the code of the guide to recording works as described', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-'))
  try {
    const path = join(folder, 'match.twr')
    const sim = simulate(game, { seed: 7, clients: 2 })
    const recording = recordMatch(sim.host as never, path)
    const highlights = new Highlights(sim.host as never)
    const late = new LateMatch(sim.host as never, 30)
    sim.run(3000)
    late.follow(sim.host.world.tick)
    const places = sim.server(Player).map(({ x, y }) => ({ x, y }))
    const { tick } = sim.host.world
    sim.run(500)
    recording.stop()
    expect(placesAt(path, tick)).toEqual(places)
    expect(placesAt(path, 1_000_000)).toEqual([])
    const saved = openRecording(sourceOf(highlights.save()))
    if (typeof saved === 'string') throw new Error(saved)
    expect(saved).toMatchObject({ end: 'open', head: { fields: 'all' } })
    const drawn: number[] = []
    showRecording(new Theatre(saved, game), 1.25, (players) => { for (const { x } of players) drawn.push(x) })
    expect(drawn).toHaveLength(places.length)
    expect(late.timeline.newest).toBeLessThanOrEqual(tick - 30)
    expect(late.timeline.newest).toBeGreaterThan(tick - 30 - 16)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.each(['before', 'after'] as const)('[REC14] the guide to bandwidth shows what the tool says, %s', (name) => {
  const { table, picture } = profileBattle(name)
  const shown = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8')
  expect(table, 'node --conditions=tickwire-source --import tsx tools/capture-bandwidth.ts').toBe(
    shown(`guide/examples/bandwidth-${name}.txt`),
  )
  expect(picture).toBe(shown(`pictures/bandwidth-${name}.svg`))
})

test.each(['entropy', 'trained'] as const)(
  '[REC14, CODEC14] the guide to halving bandwidth shows what the tool says, %s',
  (name) => {
    const shown = readFileSync(new URL(`../../docs/guide/examples/bandwidth-${name}.txt`, import.meta.url), 'utf8')
    expect(
      profileCodec(name === 'trained'),
      'node --conditions=tickwire-source --import tsx tools/capture-bandwidth.ts',
    ).toBe(shown)
  },
)

test('[REC14] the guide to halving bandwidth shows what the tool says of snapshots more and less often', () => {
  const shown = readFileSync(new URL('../../docs/guide/examples/bandwidth-rates.txt', import.meta.url), 'utf8')
  expect(profileRates(), 'node --conditions=tickwire-source --import tsx tools/capture-bandwidth.ts').toBe(shown)
})
