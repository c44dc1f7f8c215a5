/**
 * A process that serves matches of `real-rows-game.ts`, and logs the rows of every tick as plain values: a line of JSON
 * per tick, in a file for each match.
 *
 * Argument: the folder for the logs, where `priors.json` has a list of tables: first those of fingerprints, then those
 * to send. Each line of its input is a list of the matches to serve from now on; it prints the address of each.
 */

import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Entity, Priors, Shape, Vec4, World } from 'tickwire'
import { serve } from 'tickwire/node'
import { quantizeQuatAt } from '../../packages/tickwire/src/core/bits/quantize.ts'
import type { Field } from '../../packages/tickwire/src/core/schema/field.ts'
import { toJson } from './bits-checker.ts'
import { ENTITIES, makeGame, MATCHES } from './real-rows-game.ts'

const RETRAIN_MS = 3000
const [, , folder = '.'] = process.argv
const [firstPriors = {}, ...laterPriors] = JSON.parse(readFileSync(join(folder, 'priors.json'), 'utf8')) as Priors[]

const [unit, codes] = [new Float64Array(4), new Int32Array(4)]

/**
 * A value without getters of the engine. A rotation is logged as the row has it: rounding it is the server's choice.
 */
function plain({ spec }: Pick<Field<unknown>, 'spec'>, value: unknown): unknown {
  if (spec.kind === 'quat') {
    const { x, y, z, w } = value as Readonly<Vec4>
    unit.set([x, y, z, w])
    quantizeQuatAt(spec.bits, unit, 0, codes, 0)
    return [...codes]
  }
  if (value === null || (spec.kind !== 'struct' && spec.kind !== 'vector' && spec.kind !== 'group')) return value
  return valuesOf(spec.shape, value as Record<string, unknown>)
}

function valuesOf(shape: Shape, values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, plain(field, values[name])]))
}

function rowsOf(world: World): unknown[] {
  return ENTITIES.flatMap((entity: Entity, type) =>
    Array.from(
      world.each(entity) as Iterable<{ readonly id: number; readonly owner: number } & Record<string, unknown>>,
      (each) => ({
        id: each.id,
        type,
        owner: each.owner,
        values: toJson(valuesOf(entity.schema.shape, each)),
      }),
    ),
  )
}

async function start(number: number): Promise<void> {
  const match = MATCHES[number]!
  const file = join(folder, `${number}.jsonl`)
  const game = makeGame(match, firstPriors, (world) =>
    appendFileSync(file, `${JSON.stringify({ tick: world.tick, rows: rowsOf(world) })}\n`),
  )
  const serving = await serve(game, {
    port: 0, address: '127.0.0.1', udp: { port: 0 }, webrtc: false, webtransport: false, ops: false, log: () => {},
    interest: { teamOf: () => 1 }, weather: { latencyMs: 15, jitterMs: 15, loss: 0.08 },
  })
  const timers =
    match.retrains === true
      ? laterPriors.map((priors, at) => setTimeout(() => serving.host.retrain(priors), RETRAIN_MS * at))
      : []
  closers.push(async () => {
    timers.forEach(clearTimeout)
    await serving.close()
  })
  console.log(`match ${number} at ${serving.url}`)
}

const closers: (() => Promise<void>)[] = []

for await (const line of createInterface(process.stdin)) {
  await Promise.all(closers.splice(0).map((close) => close()))
  for (const number of JSON.parse(line) as number[]) await start(number)
}
