/**
 * The cost of mirroring objects into an ECS: nanoseconds per object and update, beside a loop written by hand for the
 * same fields and the same library. `ecs/library-process.ts` has the loops.
 *
 * Each library has a process of its own, as a game has: V8 is slower at code that meets several of them.
 */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ratio, type Bench, type BenchResult, type Figure, type Timing } from './harness.ts'

const LIBRARIES = ['bitecs', 'koota', 'miniplex', 'plain'] as const
const PROCESS = fileURLToPath(new URL('./ecs/library-process.ts', import.meta.url))
const AGAINST = 'a loop by hand, which finds things by id and removes none'

function measure(library: string): Timing[] {
  const { stdout, stderr, status } =
    spawnSync(process.execPath, [...process.execArgv, PROCESS, library], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${library}: ${stderr}`)
  return JSON.parse(stdout) as Timing[]
}

/** `npm run bench -- ecs` */
export const bench: Bench = {
  name: 'ecs',
  summary: 'objects mirrored into bitECS, koota, miniplex and plain objects, beside loops by hand: time per object',
  options: [],
  async run(): Promise<BenchResult> {
    const measured = LIBRARIES.map((library) => ({ library, timings: measure(library) }))
    return {
      tables: [{
        title: '1,000 objects of six numbers, one of which changes',
        columns: ['what', 'ns per object', 'min', 'max'],
        rows: measured.flatMap(({ library, timings }) =>
          timings.map(({ name, ns, nsMin, nsMax }) => [`${library}, ${name}`, ns, nsMin, nsMax])),
      }],
      figures: measured.flatMap(({ library, timings }): Figure[] => [
        { name: `${library}_ns_per_object`, value: timings[0]!.ns, unit: 'ns', against: null },
        {
          name: `${library}_ratio_by_hand`, value: ratio(timings, 'mirrored', 'by hand'), unit: 'ratio',
          against: AGAINST,
        },
      ]),
    }
  },
}
