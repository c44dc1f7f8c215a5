import { bool, defineGame, entity, fixed, rpc, text, u8 } from 'tickwire'
import { simulate } from 'tickwire/testing'

// #region declare
const Player = entity({ x: fixed(0, 100, 0.1), gold: u8.owner().initially(20) })

/** A player asks the shop. */
const Buy = rpc({ item: text(12) }, { to: 'server', reply: { isSold: bool, left: u8 }, name: 'Buy' })
/** Everyone hears it; whoever misses it has missed nothing that lasts. */
const Boom = rpc({ x: fixed(0, 100, 0.1) }, { to: 'all', delivery: 'unreliable', name: 'Boom' })

export const game = defineGame({
  tickRate: 30,
  input: { jump: bool },
  entities: [Player],
  rpcs: [Buy, Boom],
  onJoin: (world, peer) => world.spawn(Player, { x: 50 }, peer),
  step() {},
})
// #endregion

const sim = simulate(game, { seed: 1, clients: 2, link: { latencyMs: 100, loss: 0.05 } })
const server = sim.host
const [client] = sim.players.map(({ host }) => host)

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
export const bought = client!.request(sim.clock.now, Buy, { item: 'axe' }, { timeoutMs: 2000 }).then((result) =>
  result.isOk ? `sold: ${result.values.isSold}, ${result.values.left} left` : `no answer: ${result.reason}`)
// #endregion

// #region shout
client!.handle(Boom, ({ x }, { tick }) => console.log(`boom at ${x}, tick ${tick}`))
server.call(Boom, { x: 33 })
// #endregion

sim.run(1000)
