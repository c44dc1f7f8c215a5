import { bool, bytes, defineGame, entity, fixed, message, rpc, text, u8 } from 'tickwire'
import { simulate } from 'tickwire/testing'

// #region declare
const Player = entity({ x: fixed(0, 100, 0.1), gold: u8.owner().initially(20) })

/** A player buys from the shop. */
const Buy = rpc({ item: text(12) }, { to: 'server', reply: { isSold: bool, left: u8 }, name: 'Buy' })
/** For every client. A client that misses it has missed nothing that lasts. */
const Boom = rpc({ x: fixed(0, 100, 0.1) }, { to: 'all', delivery: 'unreliable', name: 'Boom' })
/** A saved game: longer than a packet, so it is sent in fragments. */
const Restore = rpc({ slot: u8 }, { to: 'server', reply: { data: bytes(200_000) }, name: 'Restore' })
/** A call needs no fields. */
const Wave = rpc({}, { to: 'server', name: 'Wave' })
/** Chat: what a player says, and what all players read. */
const Say = message({ text: text(140) }, 'Say')
const Said = message({ from: u8, text: text(140) }, 'Said')

export const game = defineGame({
  tickRate: 30,
  input: { jump: bool },
  entities: [Player],
  rpcs: [Buy, Boom, Restore, Wave],
  messages: [Say, Said],
  onJoin: (world, peer) => world.spawn(Player, { x: 50 }, peer),
  step() {},
})
// #endregion

const sim = simulate(game, { seed: 1, clients: 2, link: { latencyMs: 100, loss: 0.05 } })
const server = sim.host
const [client] = sim.players.map(({ host }) => host)

/** What was said and done, for the test. */
export const seen: string[] = []
server.handle(Wave, (_, { from }) => void seen.push(`player ${from.id} waves`))
client!.call(Wave, {})

// #region answer
const PRICES: Record<string, number> = { axe: 12, map: 3 }

server.handle(Buy, ({ item }, { from }) => {
  const [buyer] = [...server.world.each(Player)].filter(({ owner }) => owner === from.id)
  const price = PRICES[item]
  if (buyer === undefined || price === undefined || buyer.gold < price) return { isSold: false, left: buyer?.gold ?? 0 }
  buyer.gold -= price
  return { isSold: true, left: buyer.gold }
})
// #endregion

// #region ask
export const bought = client!.request(Buy, { item: 'axe' }, { timeoutMs: 2000 }).then((result) =>
  result.isOk ? `sold: ${result.values.isSold}, ${result.values.left} left` : `no answer: ${result.reason}`)
// #endregion

// #region shout
client!.handle(Boom, ({ x }, { tick }) => console.log(`boom at ${x}, tick ${tick}`))
server.call(Boom, { x: 33 })
// #endregion

// #region messages
server.on(Say, ({ text }, { id }) => server.broadcast(Said, { from: id, text }))

client!.on(Said, ({ from, text }) => void seen.push(`player ${from}: ${text}`))
client!.send(Say, { text: 'hello' })
// #endregion

// #region large
server.handle(Restore, () => ({ data: new Uint8Array(150_000) }))

export const restored = client!.request(Restore, { slot: 1 }, { timeoutMs: 60_000 }).then((result) =>
  result.isOk ? `${result.values.data.length} bytes` : `no answer: ${result.reason}`)

/** For a bar on the screen: how much of each large message has arrived, 0 to 1. */
export function progress(): readonly number[] {
  return client!.transfers
    .filter(({ direction }) => direction === 'in')
    .map(({ bytes, totalBytes }) => bytes / totalBytes)
}
// #endregion

sim.run(20_000)
