/** A page that creates and joins rooms with options and passwords, and whose game makes a mistake on request. */

import { bool, defineGame, entity, fixed, u8 } from 'tickwire'
import { connect, ConnectError, watchRooms, type Room } from 'tickwire/browser'

export const Walker = entity({ x: fixed(0, 1000, 0.1) }, { name: 'Walker' })

const INPUT = { isWrong: bool }

export const game = defineGame({
  tickRate: 30,
  input: INPUT,
  roomOptions: { map: u8.initially(1), isRanked: bool },
  entities: [Walker],
  onJoin: (world, peer) => world.spawn(Walker, { x: 10 }, peer),
  step(world, inputs) {
    for (const walker of world.each(Walker)) if (inputs.of(walker.owner).isWrong) walker.x = NaN
  },
})

/** The room list, as text. */
export let listed = ''
let isWrong = false

function play(room: Room<typeof INPUT>): string {
  room.play({ input: () => ({ isWrong }) })
  return room.id
}

/** Creates a room. Returns its id. */
export async function create(url: string, map: number, password: string): Promise<string> {
  return play(await connect(game, url, { join: { create: 'duel', options: { map }, password } }))
}

/** Joins a room. Returns its id, or the code of the refusal. */
export async function enter(url: string, room: string, password?: string): Promise<string> {
  try {
    return play(await connect(game, url, { join: { room, ...(password !== undefined && { password }) } }))
  } catch (error) {
    if (error instanceof ConnectError) return error.code
    throw error
  }
}

export function watch(url: string): void {
  watchRooms(url, (rooms) => {
    listed = rooms.map(({ metadata, players, hasPassword }) => `${metadata.map} ${players} ${hasPassword}`).join()
  })
}

/** From now on `step` computes NaN for the player of this page. */
export function goWrong(): void {
  isWrong = true
}
