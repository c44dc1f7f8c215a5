/** What runs before a release: one list, in its order. The quick checks come first, so that a failure ends it early. */

import { spawnSync } from 'node:child_process'

/** A command of a release. Minutes are those of a quiet machine with two cores. */
export interface ReleaseStep {
  readonly command: string
  readonly minutes: number
}

/** Each run of the stages on a real clock. `--sum` of `npm test` wants ten of them. */
const TIMED: ReleaseStep = { command: 'npm test -- --timed --log test/timed-runs.jsonl', minutes: 15 }

export const RELEASE: readonly ReleaseStep[] = [
  { command: 'npm test', minutes: 25 },
  { command: 'npm run prove -- settings-mutants', minutes: 3 },
  { command: 'npm run prove -- tests', minutes: 30 },
  { command: 'npm run sim -- --each 1000000 --marks', minutes: 30 },
  { command: 'npm run fuzz -- --seconds 1800', minutes: 30 },
  { command: 'npm run soak -- arena --minutes 60', minutes: 61 },
  { command: 'npm run soak -- skirmish --minutes 30', minutes: 31 },
  { command: 'npm run soak -- all --minutes 30', minutes: 31 },
  { command: 'npm run chaos -- --long', minutes: 15 },
  ...Array.from({ length: 10 }, () => TIMED),
  { command: 'npm test -- --sum test/timed-runs.jsonl', minutes: 0 },
]

/** The list, as lines for readers. */
export function releaseLines(steps: readonly ReleaseStep[] = RELEASE): string[] {
  const sum = steps.reduce((total, { minutes }) => total + minutes, 0)
  return [
    ...steps.map(({ command, minutes }) => `${`${minutes} min`.padStart(8)}  ${command}`),
    `${`${(sum / 60).toFixed(1)} h`.padStart(8)}  in all`,
  ]
}

/** Runs the steps in their order, each with its time, up to the first that fails. Returns whether all passed. */
export function runRelease(cwd: string, steps: readonly ReleaseStep[] = RELEASE): boolean {
  for (const [at, { command, minutes }] of steps.entries()) {
    console.log(`\n== ${at + 1} of ${steps.length}: ${command} (about ${minutes} min)`)
    const startedAt = performance.now()
    const { status } = spawnSync(command, { cwd, shell: true, stdio: 'inherit' })
    const took = ((performance.now() - startedAt) / 60_000).toFixed(1)
    console.log(`== ${status === 0 ? 'passed' : 'FAILED'} after ${took} min: ${command}`)
    if (status !== 0) return false
  }
  return true
}
