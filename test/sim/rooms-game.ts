/** The game of the tests of rooms: one player object each, and chat. */

import { bool, defineGame, entity, fixed, message, text, type Game } from 'tickwire'
import { Guest } from './rooms-party.ts'

export const Player = entity({ x: fixed(0, 1000, 0.1) })
export const Chat = message({ text: text(40) })
export const INPUT = { right: bool }

export function makeGame(tickRate = 30): Game<typeof INPUT> {
  return defineGame({
    tickRate,
    input: INPUT,
    entities: [Player],
    messages: [Chat],
    onJoin: (world, peer) => world.spawn(Player, { x: 10 }, peer),
    step(world, inputs) {
      // Only the authority receives it.
      if (inputs.messages(Chat).some(({ values }) => values.text === 'boom')) throw new Error('boom')
      for (const player of world.each(Player)) if (inputs.of(player.owner).right) player.x += 1
    },
  })
}

export const game = makeGame()
export const seen = (guest: Guest<typeof INPUT>): number => [...guest.host.view.each(Player)].length
