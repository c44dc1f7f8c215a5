import { describe, expect, test } from 'vitest'
import { entity } from '../../schema/definition.ts'
import { fixed, u16, vec2 } from '../../schema/field-kinds.ts'
import { encodeWorld } from '../../world/world-image.ts'
import type { World } from '../../world/world.ts'
import { defineLockstep, type LockstepGame } from '../define-lockstep.ts'
import { LocalFeed } from '../local-feed.ts'
import { LockstepRunner } from '../lockstep-runner.ts'
import { decodeQuestion, encodeQuestion } from './descent-wire.ts'
import { CaseFile } from './donor.ts'
import { nameDifferences } from './finding.ts'
import { History } from './history.ts'
import { searchRepair, searchTrace, type Search } from './search.ts'

const Tank = entity({ at: vec2(0, 500, 1 / 64), hp: u16, fuel: fixed(0, 100, 0.1), kills: u16 }, { name: 'Tank' })
const Tree = entity({ age: u16 }, { name: 'Tree' })

function makeGame(tanks: number, trees: number, isBad = (): boolean => false): LockstepGame {
  return defineLockstep({
    orders: [], entities: [Tank, Tree],
    onStart(world) {
      for (let at = 0; at < tanks; at++) world.spawn(Tank, { hp: at % 100 })
      for (let at = 0; at < trees; at++) world.spawn(Tree, {})
    },
    step(world) {
      let at = 0
      for (const tank of world.each(Tank)) {
        tank.at.x = (tank.at.x + 1) % 500
        if (at++ === 700 && isBad()) tank.fuel += 0.5
        tank.kills = world.prng.nextInt(0, 9)
      }
    },
  }) as LockstepGame
}

interface Peer {
  readonly runner: LockstepRunner
  readonly history: History
  file(): CaseFile
}

function makePeer(game: LockstepGame, ticks: number): Peer {
  const runner = new LockstepRunner(game, new LocalFeed({ tickRate: 30, seed: 3 }))
  const history = new History(game, runner.world, 2)
  runner.watch = { handleStepped: (_tick, low, high) => history.save(runner.roster, low, high) }
  const step = (): void => { runner.update(runner.tick * 40) }
  while (runner.tick < ticks) step()
  return {
    runner, history,
    file() {
      step()
      const { tick } = runner
      return new CaseFile(runner, history, history.open(tick)!, history.open(tick - 1))
    },
  }
}

function rootOf({ hash }: CaseFile): { low: number; high: number } {
  return { low: hash.value[0]!, high: hash.value[1]! }
}

/** Plays both sides of a search. */
function answer<T>(search: Search<T>, donor: CaseFile): { result: T; rounds: number; bytes: number } {
  let [rounds, bytes] = [0, 0]
  let next = search.next()
  while (next.done !== true) {
    const question = encodeQuestion(next.value)
    const reply = donor.answer(decodeQuestion(question)!)
    rounds++
    bytes += question.length + reply.length
    next = search.next(reply)
  }
  return { result: next.value, rounds, bytes }
}

function disagree(tanks: number, trees: number, change: (world: World) => void): {
  own: CaseFile; donor: CaseFile; root: { low: number; high: number }
} {
  const [good, bad] = [makePeer(makeGame(tanks, trees), 2), makePeer(makeGame(tanks, trees), 2)]
  change(bad.runner.world)
  const [donor, own] = [good.file(), bad.file()]
  return { own, donor, root: rootOf(donor) }
}

describe('a search for the objects that differ', () => {
  test.each([[2000, 0, 4], [60_000, 5536, 6]])(
    '[DESYNC3] %i tanks and %i trees: one field is named in at most %i rounds and 4 KB', (tanks, trees, roundsMax) => {
      const { own, donor, root } = disagree(tanks, trees, (world) => { [...world.each(Tank)][tanks - 300]!.fuel = 7 })
      expect(own.world.count(Tank) + own.world.count(Tree)).toBe(tanks + trees)
      const { result, rounds, bytes } = answer(searchRepair(own, root), donor)
      expect(rounds).toBeLessThanOrEqual(roundsMax)
      expect(bytes).toBeLessThanOrEqual(4096)
      expect(result.entities).toEqual(['Tank'])
      expect(nameDifferences(own.world, result.world!, result.indexes)).toEqual([
        { in: 'field', entity: 'Tank', id: (tanks - 300) * 65_536 + 1, field: 'fuel', values: ['7', '0'] },
      ])
      expect(encodeWorld(result.world!)).toEqual(encodeWorld(donor.world))
    },
  )

  test('[DESYNC5] one object of 2,000 is repaired with at most 2 KB', () => {
    const { own, donor, root } = disagree(2000, 0, (world) => { [...world.each(Tank)][900]!.at.y = 3 })
    const { result, bytes } = answer(searchRepair(own, root), donor)
    expect(bytes).toBeLessThanOrEqual(2048)
    expect(result.indexes).toEqual([900])
  })

  test('[DESYNC5] many objects are repaired one by one, and more than a quarter by a whole image', () => {
    const some = disagree(2000, 0, (world) => {
      [...world.each(Tank)].forEach((tank, at) => { if (at % 50 === 0) tank.hp = 9999 })
    })
    expect(answer(searchRepair(some.own, some.root), some.donor).result.indexes).toHaveLength(40)
    const most = disagree(2000, 0, (world) => { for (const tank of world.each(Tank)) tank.hp = 9999 })
    const { result } = answer(searchRepair(most.own, most.root), most.donor)
    expect(result.indexes).toEqual([])
    expect(encodeWorld(result.world!)).toEqual(encodeWorld(most.donor.world))
  })

  test('[DESYNC5] a donor whose state does not have the root is refused, whatever it answers', () => {
    const { own, donor, root } = disagree(500, 0, (world) => { [...world.each(Tank)][3]!.hp = 1 })
    const lie = { low: root.low ^ 1, high: root.high }
    expect(answer(searchRepair(own, lie), donor).result.world).toBeUndefined()
    const search = searchRepair(own, root)
    let next = search.next()
    for (let at = 0; next.done !== true && at < 50; at++) next = search.next(Uint8Array.of(at, 255, 3))
    expect(next).toMatchObject({ done: true, value: { world: undefined } })
  })
})

describe('a search for the first write that differs', () => {
  function trace(isBad: () => boolean): { result: unknown; rounds: number } {
    const good = makePeer(makeGame(2000, 0), 5)
    const bad = makePeer(makeGame(2000, 0, isBad), 5)
    const [donor, own] = [good.file(), bad.file()]
    return answer(searchTrace(own, rootOf(donor), rootOf(own)), donor)
  }

  test('[DESYNC4] a write more, among 6,000, in at most 4 rounds', () => {
    let ticks = 0
    const { result, rounds } = trace(() => ++ticks > 5)
    expect(rounds).toBeLessThanOrEqual(4)
    expect(result).toMatchObject({
      kind: 'write', own: { kind: 'write', entity: 'Tank', field: 'fuel', value: '0.5', id: 700 * 65_536 + 1 },
      theirs: { kind: 'draw', field: 'prng.nextInt' },
    })
    const { own } = result as { own: { site: { file: string; line: number } } }
    expect(own.site.file).toMatch(/search\.test\.ts$/)
    // The exact line is tested where no test runner rewrites the code: test/browser/desync.test.ts.
    expect(own.site.line).toBeGreaterThan(10)
  })

  test('[DESYNC4] a step that gives another result each time is said to', () => {
    let calls = 0
    expect(trace(() => calls++ % 2 === 1).result).toMatchObject({ kind: 'unsteady' })
  })
})
