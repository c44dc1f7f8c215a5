/** Every planted desync is found by the pulses of a match, and by at least one other check. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  DebugLog, LocalFeed, LockstepRunner, playedMatch, ReplayFeed, type PlayedMatch, type RunnerOptions,
} from 'tickwire/lockstep'
import { startTickwire } from '../../packages/tickwire/src/cli/run.ts'
import { StepTraps } from '../../packages/tickwire/src/core/base/step-traps.ts'
import { encodeWorld } from '../../packages/tickwire/src/core/world/world-image.ts'
import {
  makeMachine, onMachine, PLANTED, plantedGame, Poke, type Machine, type PlantedDesync,
} from './desync-plants.ts'

const TICKS = 160
const REJOIN_TICK = 100

/** The ticks of a match of two players: orders at the same times, and one that is away for a while. */
function makeMatch(): PlayedMatch {
  const feed = new LocalFeed({ tickRate: 30, seed: 11, players: 2 })
  const runner = new LockstepRunner(plantedGame(undefined, makeMachine(0)), feed)
  for (let now = 0; runner.tick < TICKS; now += 34) {
    const data = Uint8Array.of(runner.tick, 0)
    if (runner.tick % 6 === 5) for (const player of [1, 2]) feed.submit(now - 10, 0, data, player)
    runner.update(now)
  }
  return playedMatch(feed.log, 30, 11)
}

const match = makeMatch()

interface Played {
  readonly hashes: string[]
  readonly image: Uint8Array | undefined
}

/** Plays the match on a machine. `image`: the machine joins late, from it. */
function play(
  plant: PlantedDesync | undefined, machine: Machine, options: RunnerOptions = {}, image?: Uint8Array, level = 0,
): Played {
  const hashes: string[] = []
  let kept: Uint8Array | undefined
  onMachine(machine, () => {
    const feed = new ReplayFeed(match)
    feed.speed = Infinity
    const game = plantedGame(plant, machine)
    const runner = new LockstepRunner(game, feed, {
      ticksPerUpdate: 1, onTick: (tick, low, high) => { hashes[tick] = `${high}.${low}` }, ...options,
    })
    if (level > 0) new DebugLog(runner, { level: 2 })
    if (image !== undefined && !runner.jump(REJOIN_TICK, image)) throw new Error('the image is refused')
    while (runner.update(0) > 0) {
      plant?.page?.(runner, machine)
      // A player gives an order: its check runs on this machine alone.
      if (machine.number > 0 && runner.tick % 40 === 39) runner.order(0, game.orders[0] as never, { value: 1 } as never)
      if (runner.tick === REJOIN_TICK) kept = encodeWorld(runner.world)
    }
  })
  return { hashes, image: kept }
}

const differ = (a: Played, b: Played): boolean => b.hashes.some((hash, tick) => hash !== a.hashes[tick])

function isThrown(run: () => void): boolean {
  try {
    run()
    return false
  } catch {
    return true
  }
}

const folder = mkdtempSync(join(tmpdir(), 'tickwire-planted-'))

/** The nets, each with whether it finds a plant. */
const NETS: Record<string, (plant: PlantedDesync | undefined) => boolean | Promise<boolean>> = {
  // Pulses of two machines, and of a third that joins late from an image of the first.
  match(plant) {
    const [a, b] = [play(plant, makeMachine(0)), play(plant, makeMachine(1))]
    return differ(a, b) || differ(a, play(plant, makeMachine(0), {}, a.image))
  },
  // A new process goes on from an image: a player that returns, or a replay that seeks.
  rejoin(plant) {
    const all = play(plant, makeMachine(0))
    return differ(all, play(plant, makeMachine(0), {}, all.image))
  },
  // The recorded match, stepped again elsewhere: a referee, or `tickwire verify --step`.
  replay: (plant) => differ(play(plant, makeMachine(0)), play(plant, makeMachine(2))),
  dual: (plant) => isThrown(() => play(plant, makeMachine(1), { dual: true })),
  heavy: (plant) => isThrown(() => play(plant, makeMachine(1), { heavy: true })),
  purity: (plant) => isThrown(() => play(plant, makeMachine(1), { checkPurity: true })),
  traps: (plant) => isThrown(() => play(plant, makeMachine(1), {
    traps: new StepTraps(({ message }) => { throw new Error(message) }),
  })),
  caches: (plant) => isThrown(() => play(plant, makeMachine(0), {}, undefined, 2)),
  async lint(plant) {
    if (plant?.step === undefined) return false
    const path = join(folder, 'game.ts')
    const head = 'const kept = {}\nexport const game = { step(world, orders) { const units = []'
    writeFileSync(path, `${head}\n${plant.step}\n} }`)
    const quiet = { print: () => {}, complain: () => {}, nowSeconds: () => 0, entropy: { fill: () => {} } }
    return await startTickwire(['lint', path], quiet) === 1
  },
}

test('[DESYNC11] a game without a plant is found by no net', async () => {
  for (const [name, net] of Object.entries(NETS)) expect(await net(undefined), name).toBe(false)
  expect(Poke.name).toBe('Poke')
})

test('[DESYNC11] there are at least 24 plants', () => {
  expect(new Set(PLANTED.map(({ name }) => name)).size).toBeGreaterThanOrEqual(24)
})

test.each(PLANTED)('[DESYNC11, I10] $name: found by the match, and by another net', async (plant) => {
  const found: string[] = []
  for (const [name, net] of Object.entries(NETS)) if (await net(plant)) found.push(name)
  expect(found).toContain('match')
  expect(found.length, found.join(', ')).toBeGreaterThanOrEqual(2)
})

afterAll(() => { rmSync(folder, { recursive: true, force: true }) })
