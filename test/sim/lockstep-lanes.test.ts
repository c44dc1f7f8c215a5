import { expect, test } from 'vitest'
import { defineLockstep, ids, order, type LockstepGame } from 'tickwire/lockstep'
import { entity, u32 } from 'tickwire'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { ChannelSet } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { LANE_SPECS, LANE_NAMES, type Lane } from '../../packages/tickwire/src/core/channel/lanes.ts'
import { game } from './lockstep-game.ts'
import { LockstepParty } from './lockstep-party.ts'
import './unplanned-heals.ts'

const text = (bytes: Uint8Array): string => String.fromCharCode(...bytes)
const bytesOf = (message: string): Uint8Array => Uint8Array.from(message, (letter) => letter.charCodeAt(0))

/** The messages that each client receives on a lane: sender and text. */
function listen(party: LockstepParty, lane: Lane): [number, string][][] {
  return party.clients.map(({ client }) => {
    const seen: [number, string][] = []
    client.lanes.on(lane, (from, bytes) => { seen.push([from, text(bytes)]) })
    return seen
  })
}

test('[LOCK47] there are five lanes with the priorities, weights, limits and promises of the table', () => {
  expect([...LANE_NAMES]).toEqual(['orders', 'control', 'chat', 'voice', 'bulk'])
  expect(LANE_SPECS.map(({ promise, queue: { name, priority, weight, bufferBytes } }) =>
    [name, priority, weight, bufferBytes, promise])).toEqual([
    ['orders', 0, 1, 4096, 'ordered'],
    ['control', 0, 1, 2048, 'sequenced'],
    ['chat', 1, 1, 8192, 'ordered'],
    ['voice', 1, 2, 16_384, 'unreliable'],
    ['bulk', 2, 1, 65_536, 'unreliable'],
  ])
})

test('[LOCK47] a full lane refuses reliable messages, and drops the oldest of the others', () => {
  const channels = new ChannelSet(LANE_SPECS)
  const filled = (lane: number, size: number): string[] =>
    Array.from({ length: 100 }, () => channels.send(lane, new Uint8Array(size)))
  expect(filled(LANE_NAMES.indexOf('chat'), 1000).filter((result) => result === 'queued')).toHaveLength(8)
  expect(channels.send(LANE_NAMES.indexOf('chat'), new Uint8Array(1000))).toBe('full')
  expect(new Set(filled(LANE_NAMES.indexOf('voice'), 1000))).toEqual(new Set(['queued']))
  expect(new Set(filled(LANE_NAMES.indexOf('bulk'), 1000))).toEqual(new Set(['queued']))
  expect(channels.channel(LANE_NAMES.indexOf('voice')).waitingBytes).toBeLessThanOrEqual(16_384)
  expect(channels.channel(LANE_NAMES.indexOf('bulk')).waitingBytes).toBeLessThanOrEqual(65_536)
})

test('[LOCK47] chat arrives at all other players, complete and in order, at 10 % loss', () => {
  const party = new LockstepParty({
    game: game as never, seed: 4, clients: 4, weather: () => ({ latencyMs: 30, jitterMs: 20, loss: 0.1 }),
  })
  party.run(1500)
  const seen = listen(party, 'chat')
  for (let number = 0; number < 20; number++) {
    for (const client of party.clients) expect(client.client.lanes.send('chat', bytesOf(`n${number}`))).toBe('queued')
    party.clock.drive(50)
  }
  party.run(3000)
  party.clients.forEach(({ client: { player } }, at) => {
    for (const other of party.clients.map(({ client }) => client.player)) {
      const texts = seen[at]!.filter(([from]) => from === other).map(([, message]) => message)
      expect(texts).toEqual(other === player ? [] : Array.from({ length: 20 }, (_, number) => `n${number}`))
    }
  })
  expect(party.largestDatagram).toBeLessThanOrEqual(476)
})

test('[LOCK47] on control the latest wins: an older message never follows a newer one', () => {
  const party = new LockstepParty({
    game: game as never, seed: 5, clients: 2, weather: () => ({ latencyMs: 30, jitterMs: 60, loss: 0.2 }),
  })
  party.run(1500)
  const seen = listen(party, 'control')
  for (let number = 0; number < 100; number++) {
    party.clients[0]!.client.lanes.send('control', bytesOf(String(number)))
    party.run(20)
  }
  party.run(500)
  const numbers = seen[1]!.map(([, message]) => Number(message))
  expect(numbers.length).toBeGreaterThan(30)
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
  expect(numbers.length).toBeLessThan(100)
})

test('[LOCK47] a chat and bulk flood of one player delays no tick, and each is bounded', () => {
  const party = new LockstepParty({ game: game as never, seed: 6, clients: 3, weather: () => ({ latencyMs: 20 }) })
  party.run(1500)
  const seen = listen(party, 'bulk')
  const from = party.closedAt.length
  for (let ms = 0; ms < 3000; ms += 10) {
    for (const lane of ['chat', 'bulk', 'voice'] as const)
      party.clients[0]!.client.lanes.send(lane, new Uint8Array(1000))
    party.run(10)
  }
  const gaps = party.closedAt.slice(from + 1).map((at, index) => at - party.closedAt[from + index]!)
  expect(Math.max(...gaps)).toBeLessThan(40)
  expect(party.clients[1]!.hashes.length).toBeGreaterThan(100)
  // 32 KiB a second and a burst of 64: the rest is dropped by the relay, or waits at the sender.
  const bytes = seen[1]!.length * 1000
  expect(bytes).toBeLessThan(3 * 32_768 + 65_536)
})

test('[LOCK47] an observer neither sends nor receives on lanes, and a message of 1,001 bytes is too large', () => {
  const party = new LockstepParty({ game: game as never, seed: 7, clients: 2 })
  party.run(500)
  const observer = party.add({ role: 'spectator' } as never)
  party.run(500)
  const seen = listen(party, 'chat')
  observer.client.lanes.send('chat', bytesOf('hello'))
  party.clients[0]!.client.lanes.send('chat', bytesOf('players only'))
  party.run(500)
  expect(seen.map((messages) => messages.length)).toEqual([0, 1, 0])
  expect(party.clients[0]!.client.lanes.send('chat', new Uint8Array(1001))).toBe('too-large')
})

test('[LOCK47] under a full link bulk gets nothing, and voice twice the bytes of chat', () => {
  const channels = new ChannelSet(LANE_SPECS)
  const { sources } = channels
  expect(sources.map(({ queues }) => queues.map(({ name }) => name))).toEqual(
    [['orders', 'control'], ['chat', 'voice'], ['bulk']],
  )
  for (let packet = 0; packet < 300; packet++) {
    for (const lane of ['chat', 'voice', 'bulk'] as const)
      for (let times = 0; times < 4; times++) channels.send(LANE_NAMES.indexOf(lane), new Uint8Array(200))
    const out = new BitWriter(new Uint8Array(400))
    let used = 0
    for (const source of sources) {
      for (source.begin(packet); used < 300;) {
        out.reset(out.bytes, 0, 400 - used)
        if (!source.fill(packet, packet, out)) break
        used += (out.bitLength + 7) >>> 3
      }
    }
    for (const source of sources) source.onDelivered(packet, packet)
  }
  const [chat = 0, voice = 0] = sources[1]!.sentBytes
  expect(voice / chat).toBeGreaterThan(1.9)
  expect(voice / chat).toBeLessThan(2.1)
  expect(sources[2]!.sentBytes[0]).toBe(0)
})

const Thing = entity({ sum: u32 }, { name: 'Thing' })
const Pick = order({ units: ids(1024) }, 'Pick')
const Small = order({ number: u32 }, 'Small')
const large: LockstepGame<[typeof Pick, typeof Small]> = defineLockstep({
  orders: [Pick, Small] as [typeof Pick, typeof Small],
  entities: [Thing],
  onStart: (world) => { world.spawn(Thing, {}) },
  step(world, orders) {
    for (const thing of world.each(Thing)) for (const given of orders)
      thing.sum = given.name === 'Pick' ? thing.sum + given.values.units.length : thing.sum + 1_000_000
  },
})

test('[LOCK48] an order of more than 380 bytes goes by its lane, is executed everywhere once, and is reported', () => {
  const party = new LockstepParty({
    game: large as never, seed: 8, clients: 3, weather: () => ({ latencyMs: 30, jitterMs: 10, loss: 0.1 }),
  })
  party.run(1500)
  const states: string[] = []
  const { runner } = party.clients[0]!.client
  runner!.onOrder(Pick as never, (_values, state) => { states.push(`pick ${state}`) })
  runner!.onOrder(Small as never, (_values, state) => { states.push(`small ${state}`) })
  const units = Array.from({ length: 900 }, (_, at) => (3 * at + at % 2) * 65_536 + 1 + at % 3)
  expect(party.clients[0]!.order(party.clock.now, Pick as never, { units })).toBe('sent')
  expect(party.clients[0]!.order(party.clock.now, Small as never, { number: 5 })).toBe('sent')
  party.run(2000)
  for (const { client } of party.clients)
    for (const thing of client.runner!.world.each(Thing)) expect(thing.sum).toBe(1_000_900)
  expect(states.filter((state) => state.endsWith('issued'))).toHaveLength(2)
  expect(states.slice(2).sort()).toEqual(['pick executed', 'small executed'])
  expect(party.largestDatagram).toBeLessThanOrEqual(476)
  expect(party.clients.map(({ hashes }) => hashes[90])).toEqual(Array(3).fill(party.clients[0]!.hashes[90]))
})
