/** The options of a match that a page hosts. */

import type { SingleMatchOptions } from '../core/game/match-host.ts'

/** Options of a match that a page hosts, apart from those of `host`. */
export interface RunHostOptions extends Omit<SingleMatchOptions, 'role' | 'heavy'> {}
