import { bool, defineGame, rpc, text, u8 } from 'tickwire'
import type { Room } from 'tickwire/browser'

export const Buy = rpc({ item: text(12) }, { to: 'server', reply: { isSold: bool, left: u8 }, name: 'Buy' })
export const Wave = rpc({ times: u8 }, { to: 'server', name: 'Wave' })
export const Boom = rpc({ power: u8 }, { to: 'all', name: 'Boom' })

export const game = defineGame({
  tickRate: 30, input: { jump: bool }, entities: [], rpcs: [Buy, Wave, Boom], step() {},
})

// #region page
export async function shop(room: Room<typeof game.input>): Promise<string> {
  const stop = room.handle(Boom, ({ power }) => console.log(`boom, ${power}`))
  room.call(Wave, { times: 2 })
  const result = await room.request(Buy, { item: 'axe' }, { timeoutMs: 2000 })
  stop()
  return result.isOk ? `${result.values.left} gold left` : `not sold: ${result.reason}`
}
// #endregion
