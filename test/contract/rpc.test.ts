import { expect, test } from 'vitest'
import { bool, defineGame, entity, fixed, message, near, rpc, struct, text, u8, type RpcResult } from 'tickwire'
import { defineLockstep, LocalFeed, LockstepRunner, order } from 'tickwire/lockstep'
import { simulate } from 'tickwire/testing'

const Player = entity({ x: fixed(0, 100, 0.1), hp: u8.initially(100) })
const Heal = rpc({ by: u8 }, { to: 'server', by: 'owner', name: 'Heal' })
const Buy = rpc({ item: text(12) }, { to: 'server', reply: { isSold: bool, price: u8 }, name: 'Buy' })
const Boom = rpc({ x: fixed(0, 100, 0.1) }, { to: 'all', name: 'Boom' })
const Hint = rpc({ text: text(40) }, { to: 'owner', delivery: 'unordered', name: 'Hint' })
const Whisper = rpc({ text: text(40) }, { to: 'peer', delivery: 'unreliable', name: 'Whisper' })

const game = defineGame({
  tickRate: 30,
  input: { left: bool },
  entities: [Player],
  rpcs: [Heal, Buy, Boom, Hint, Whisper],
  onJoin: (world, peer) => world.spawn(Player, { x: 50 }, peer),
  step() {},
})

const link = { latencyMs: 60, jitterMs: 20, loss: 0.3 }

test('[RPC1] at 30 % loss reliable calls of every target arrive once, where they should, in order', () => {
  const sim = simulate(game, { seed: 3, clients: 3, link })
  const received: string[][] = [[], [], []]
  sim.players.forEach(({ host }, each) => {
    host.handle(Boom, ({ x }) => { received[each]!.push(`boom ${x.toFixed(0)}`) })
    host.handle(Hint, (values) => { received[each]!.push(`hint ${values.text}`) })
  })
  const [first] = sim.server(Player).filter(({ owner }) => owner === sim.players[1]!.host.peer)
  for (let each = 0; each < 20; each++) expect(sim.host.call(Boom, { x: each })).toBe('queued')
  sim.host.call(Hint, { text: 'behind you' }, { about: first! })
  sim.run(4000)
  const booms = Array.from({ length: 20 }, (_, each) => `boom ${each}`)
  expect(received.map((each) => each.filter((word) => word.startsWith('boom')))).toEqual([booms, booms, booms])
  expect(received.map((each) => each.filter((word) => word.startsWith('hint')))).toEqual([[], ['hint behind you'], []])
})

test('[RPC11] a call to all about an object goes to the clients that see it', () => {
  const Mine = entity({ x: fixed(0, 100, 0.1).position() }, { interest: near(10), name: 'Mine' })
  const Tick = rpc({ loud: bool }, { to: 'all', name: 'Tick' })
  const field = defineGame({
    tickRate: 30, input: { left: bool }, entities: [Mine], rpcs: [Tick],
    onJoin: (world, peer) => world.spawn(Mine, { x: world.count(Mine) === 0 ? 20 : 80 }, peer),
    step() {},
  })
  const sim = simulate(field, { seed: 8, clients: 2, link: { latencyMs: 20 } })
  const received = [0, 0]
  sim.players.forEach(({ host }, each) => host.handle(Tick, () => { received[each]!++ }))
  const [first] = sim.server(Mine)
  const near20 = sim.players.findIndex(({ host }) => host.peer === first!.owner)
  sim.host.call(Tick, { loud: true }, { about: first! })
  sim.run(500)
  expect([received[near20], received[1 - near20]]).toEqual([1, 0])
})

test('[RPC1] an unreliable call may be lost, and never arrives twice', () => {
  const sim = simulate(game, { seed: 4, clients: 2, link })
  let count = 0
  sim.players[0]!.host.handle(Whisper, () => { count++ })
  const to = { id: sim.players[0]!.host.peer }
  for (let each = 0; each < 50; each++) {
    sim.host.call(Whisper, { text: 'psst' }, { to })
    sim.run(40)
  }
  sim.run(1000)
  expect(count).toBeGreaterThan(20)
  expect(count).toBeLessThan(50)
})

test("[RPC4] a player heals itself through its own object, and not another through that one's object", () => {
  const sim = simulate(game, { seed: 5, clients: 2, link: { latencyMs: 20 } })
  sim.host.handle(Heal, ({ by }, { object }) => { sim.host.world.get(Player, object)!.hp += by })
  const mine = sim.server(Player).find(({ owner }) => owner === sim.players[0]!.host.peer)!
  const hers = sim.server(Player).find(({ owner }) => owner === sim.players[1]!.host.peer)!
  sim.players[0]!.host.call(Heal, { by: 5 }, { about: mine })
  sim.players[0]!.host.call(Heal, { by: 7 }, { about: hers })
  sim.run(500)
  expect([mine.hp, hers.hp]).toEqual([105, 100])
})

test('[RPC3] a call that only the authority may make has no effect when a player makes it', () => {
  const sim = simulate(game, { seed: 6, clients: 2, link: { latencyMs: 20 } })
  let received = 0
  for (const { host } of sim.players) host.handle(Boom, () => { received++ })
  sim.players[0]!.host.call(Boom, { x: 1 })
  sim.run(500)
  expect(received).toBe(0)
  expect(sim.host.peers).toHaveLength(2)
  expect(sim.host.rpcRefusals({ id: sim.players[0]!.host.peer })!.forged).toBe(1)
})

test('[RPC6] a request is answered; one that is never handled ends by its deadline', async () => {
  const sim = simulate(game, { seed: 7, clients: 1, link })
  sim.host.handle(Buy, ({ item }) => ({ isSold: item === 'axe', price: 12 }))
  const { host } = sim.players[0]!
  const results: RpcResult<{ readonly isSold: boolean; readonly price: number }>[] = []
  void host.request(Buy, { item: 'axe' }).then((result) => results.push(result))
  void host.request(Buy, { item: 'gold' }, { timeoutMs: 1 }).then((result) => results.push(result))
  sim.run(3000)
  await Promise.resolve()
  await Promise.resolve()
  expect(results).toEqual([{ isOk: false, reason: 'timed-out' }, { isOk: true, values: { isSold: true, price: 12 } }])
})

test('[RPC6, LANE8, SCHEMA32] the guide: an axe is sold, a player waves, says hello, and gets 150 KB', async () => {
  const { bought, restored, progress, seen } = await import('../../docs/guide/examples/calls.ts')
  expect(await bought).toBe('sold: true, 8 left')
  expect(await restored).toBe('150000 bytes')
  expect(progress()).toEqual([])
  expect(seen).toEqual(['player 1 waves', 'player 1: hello'])
})

test('[SCHEMA32] what is sent once may have no fields, and an object may not', () => {
  const Count = entity({ n: u8 }, { name: 'Count' })
  const Pause = order({}, 'Pause')
  const lockstep = defineLockstep({
    players: [1, 2], orders: [Pause], entities: [Count],
    onJoin: (world, player) => void world.spawn(Count, {}, player),
    step(world, orders) {
      for (const { by } of orders) for (const count of world.each(Count)) if (count.owner === by) count.n++
    },
  })
  const runner = new LockstepRunner(lockstep, new LocalFeed({ tickRate: lockstep.tickRate, players: 1 }))
  runner.update(0)
  expect(runner.order(1, Pause, {})).toBe('sent')
  for (let now = 0; runner.tick < 10; now += 100) runner.update(now)
  expect([...runner.world.seen(Count)].map(({ n }) => n)).toEqual([1])
  const { text } = message({ nothing: bool }, 'Nothing').schema
  const sent = [message({}, 'Ready').schema, rpc({}, { to: 'server' }).args, Pause.schema]
  expect(sent.map((schema) => schema.text)).toEqual([text, text, text])
  expect(() => entity({}, { name: 'Empty' })).toThrow('Empty: no fields')
  expect(() => message({ in: struct({}) }, 'Empty')).toThrow('Empty.in: no fields')
})
