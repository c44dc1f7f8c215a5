/** The game of the tests of user code, and callbacks that fail. */

import {
  always,
  bool,
  defineGame,
  entity,
  fixed,
  message,
  rpc,
  text,
  type Game,
  type GameDefinition,
} from 'tickwire'

export const INPUT = { right: bool }
export const Walker = entity({ x: fixed(0, 1000, 0.1) }, { name: 'Walker', interest: always })
export const Lamp = entity({ isOn: bool }, { name: 'Lamp', authority: 'shared' })
export const Chat = message({ text: text(40) }, 'Chat')
export const Flash = message({ text: text(40) }, 'Flash')
export const Ask = rpc({ isUrgent: bool }, { to: 'server', reply: { isFine: bool }, name: 'Ask' })
export const Say = rpc({ isUrgent: bool }, { to: 'server', name: 'Say' })
export const Tell = rpc({ isUrgent: bool }, { to: 'peer', name: 'Tell' })

export type Input = typeof INPUT

/** The game of all rooms; `parts` are the changes of a row of the table. */
export function makeGame(parts: Partial<GameDefinition<Input>> = {}): Game<Input> {
  const { step } = parts
  return defineGame({
    tickRate: 30,
    input: INPUT,
    entities: [Walker, Lamp],
    messages: [Chat, Flash],
    rpcs: [Ask, Say, Tell],
    onJoin(world, peer) {
      world.spawn(Walker, { x: 10 }, peer)
      if (world.count(Lamp) === 0) world.spawn(Lamp, {})
    },
    ...parts,
    step(world, inputs) {
      for (const walker of world.each(Walker)) {
        if (inputs.of(walker.owner).right) walker.x += 1
        if (world.every(10)) world.emit(walker, Flash, { text: 'flash' })
      }
      return step?.(world, inputs)
    },
  })
}

/** The failure of a callback: it throws, or returns a promise that is rejected. */
export type Fail = () => never
export const THROWS: Fail = () => {
  throw new Error('on purpose')
}
export const REJECTS: Fail = () => Promise.reject(new Error('on purpose')) as never
