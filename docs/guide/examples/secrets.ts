/** The code of docs/guide/state.md, "Secrets". It is run by test/reference/state-docs.test.ts. */

import { bool, defineGame, entity, list, u16, u32, u8, type Match, type World } from 'tickwire'

// #region draw
export const Player = entity({ card: u8.owner() }, { name: 'Player' })
/** Numbers that only the server has. It belongs to the server, so clients do not simulate it. */
export const Secrets = entity({ numbers: list(u32, 1000).server(), used: u16.server() }, { name: 'Secrets' })

/** A number from 0 to count - 1. On a client there is none: a player cannot predict a secret. */
function drawSecret(world: World, count: number): number | undefined {
  for (const secrets of world.each(Secrets)) {
    const drawn = secrets.numbers[secrets.used++ % secrets.numbers.length]!
    return drawn % count
  }
  return undefined
}

export const game = defineGame({
  tickRate: 30,
  input: { draw: bool },
  entities: [Player, Secrets],
  onJoin: (world, peer) => world.spawn(Player, {}, peer),
  step(world, inputs) {
    for (const player of world.each(Player)) {
      if (!inputs.of(player.owner).draw || player.card > 0) continue
      const card = drawSecret(world, 52)
      if (card !== undefined) player.card = 1 + card
    }
  },
})
// #endregion

// #region fill
/** For the server: `serveRooms({ table: { game, onCreate: fillSecrets } })`, or `fillSecrets(serving.host)`. */
export function fillSecrets(match: Match<typeof game.input>): void {
  if (match.isRestored) return
  match.world.spawn(Secrets, { numbers: [...crypto.getRandomValues(new Uint32Array(1000))] })
}
// #endregion
