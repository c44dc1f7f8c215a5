/**
 * The same match with a server that steps it. Players send orders and receive what their team sees, so a changed page
 * cannot show more. In lockstep every page has the whole world.
 */

import { entity, u32, type PeerId, type World } from 'tickwire'
import { served, type ServedGame } from 'tickwire/lockstep'
import { Building, Seat, Unit } from './definitions.ts'
import { skirmishGame, type SkirmishOptions } from './game.ts'
import { Sight } from './sight.ts'

/** The seed of the map. No rule of the game draws random numbers, so it says nothing about what will happen. */
export const Chart = entity({ seed: u32 }, { name: 'Chart' })

/** Makes the game. Server and pages need the same one. */
export function fogGame(options: SkirmishOptions = {}): ServedGame {
  const sight = new Sight()
  return served(skirmishGame({ hasLobby: true, ...options, isFoggy: true }), {
    entities: [Chart],
    onStart: (world) => { world.spawn(Chart, { seed: world.seed % 4_294_967_296 }) },
    afterStep(world) {
      sight.look(world.each(Seat), world.each(Unit), world.each(Building))
      sight.mark(world)
    },
  })
}

/** The team of a player, for the rules of interest; 0: none. */
export function teamOf(peer: PeerId, { world }: { readonly world: Pick<World, 'each'> }): number {
  for (const { player, team } of world.each(Seat)) if (player === peer && peer !== 0) return team + 1
  return 0
}
