/** The names of players of a mesh that forms by a code. */

import type { PeerId } from '../base/time.ts'

/** The name of a player in signalling, and in its address on the port of another player: `peer/NAME`. */
export function meshName(player: PeerId): string {
  return `p${player}`
}
