/** The game that the attacked server plays: players move, and may send short messages. */

import { bool, defineGame, entity, fixed, message, text, u8, type Game } from 'tickwire'

const Player = entity({ x: fixed(0, 640, 0.1), y: fixed(0, 360, 0.1) })

/** A chat line, reliable. */
export const Chat = message({ line: text(32) })

/** Tiny unreliable messages: one on a shared channel, one on a separate channel. */
export const Spark = message({ number: u8 }, 'Spark', { delivery: 'unreliable' })
export const Ember = message({ number: u8 }, 'Ember', { delivery: 'latest' })

const INPUT = { left: bool, right: bool }

export const victimGame: Game<typeof INPUT> = defineGame({
  tickRate: 30,
  input: INPUT,
  entities: [Player],
  messages: [Chat, Spark, Ember],
  onJoin: (world, peer) => world.spawn(Player, { x: 320, y: 180 }, peer),
  step(world, inputs) {
    for (const player of world.each(Player)) {
      const { left, right } = inputs.of(player.owner)
      player.x += (+right - +left) * 6
    }
  },
})
