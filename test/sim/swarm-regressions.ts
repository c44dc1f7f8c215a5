/**
 * Failures, kept small: a file each below `regressions/`, played again in every test.
 *
 * A scenario is data, so that a failure that was found by chance stays when other scenarios are drawn.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NetWeather } from '../../packages/tickwire/src/testing/weather.ts'
import type { Violation } from './invariants.ts'
import type { Scenario } from './match-scenario.ts'
import { playMatch } from './match-swarm.ts'
import { playWorld } from './transport-swarm.ts'

/** A world or a match that failed. */
export type Regression =
  | { readonly part: 'transport'; readonly seed: number; readonly weather: NetWeather }
  | { readonly part: 'match'; readonly scenario: Scenario }

/** A failure as it is kept: what it was about, and its scenario. */
export type KeptRegression = Regression & { readonly invariant: string; readonly problem: string }

/** All failures kept below a folder, by the name of the file. */
export function keptRegressions(folder: string): readonly (readonly [name: string, kept: KeptRegression])[] {
  return !existsSync(folder) ? [] : readdirSync(folder).filter((name) => name.endsWith('.json')).toSorted()
    .map((name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptRegression])
}

/** Plays a failure again. */
export async function playRegression(kept: Regression): Promise<Violation | undefined> {
  return (kept.part === 'transport' ? playWorld(kept.seed, kept.weather) : await playMatch(kept.scenario)).violation
}
