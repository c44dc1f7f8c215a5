/**
 * Bugs to plant: each changes one line of the engine, as a careless mistake would. `npm run sim -- --mutants` plants
 * them one after the other and reports which the swarm finds, by which invariant, and after how long.
 *
 * They are patches of the bundled source, never switches in it. A test holds that each still finds its line.
 */

import type { SourcePatch } from '../../tools/sim-bundle.ts'
import { BYTE_MUTANTS } from './mutants-bytes.ts'
import { LOCKSTEP_MUTANTS } from './mutants-lockstep.ts'
import { SERVICE_MUTANTS } from './mutants-services.ts'
import { STATE_MUTANTS } from './mutants-state.ts'

/** One planted bug. */
export interface Mutant extends SourcePatch {
  readonly name: string
  /** The worlds that hunt it. Default: worlds of endpoints and matches of a server. */
  readonly part?: 'lockstep' | 'mesh' | 'path' | 'rtype' | 'services' | 'handover'
  /** Why no world can find it. A run fails if it misses a bug without a reason. */
  readonly survives?: string
}

export const MUTANTS: readonly Mutant[] = [
  ...BYTE_MUTANTS, ...STATE_MUTANTS, ...LOCKSTEP_MUTANTS, ...SERVICE_MUTANTS,
]
