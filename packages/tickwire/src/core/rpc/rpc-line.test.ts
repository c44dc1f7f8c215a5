import { describe, expect, test, vi } from 'vitest'
import { RPC_INBOX_MAX, RPC_PENDING_MAX } from '../base/limits.ts'
import { UserCode } from '../base/user-code.ts'
import { bool, fixed, oneOf, struct, text, u8 } from '../schema/field-kinds.ts'
import type { RpcResult } from './pending-calls.ts'
import { rpc, type Rpc } from './rpc.ts'
import { RpcCodec } from './rpc-codec.ts'
import { RpcHandlers } from './rpc-handlers.ts'
import { RpcLine } from './rpc-line.ts'

// All time here is simulated, but a busy machine needs long for it.
vi.setConfig({ testTimeout: 120_000 })

const Open = rpc({ door: u8, how: oneOf('push', 'kick') }, { to: 'server', by: 'owner', name: 'Open' })
const Buy = rpc(
  { item: text(10) },
  { to: 'server', reply: { isSold: bool, at: struct({ price: fixed(0, 100, 0.5) }) }, name: 'Buy' },
)
const Boom = rpc({ x: fixed(0, 100, 0.5) }, { to: 'all', delivery: 'unreliable', name: 'Boom' })
const Whisper = rpc({ text: text(20) }, { to: 'peer', name: 'Whisper' })
const ALL: readonly Rpc[] = [Open, Buy, Boom, Whisper]

/** A server (peer 0) and a player (peer 7), and a wire that delivers bytes when the test says so. */
function match(): {
  server: RpcLine<string>
  player: RpcLine<string>
  carry(): void
  serverHandlers: RpcHandlers<string>
  playerHandlers: RpcHandlers<string>
  ticks: { server: number; player: number }
  faults: unknown[]
  wire: Uint8Array[][]
} {
  const codec = (): RpcCodec => new RpcCodec(ALL, 3)
  const ticks = { server: 100, player: 110 }
  const faults: unknown[] = []
  const wire: Uint8Array[][] = [[], []]
  const code = new UserCode(({ error }) => faults.push(error))
  const serverHandlers = new RpcHandlers<string>(code)
  const playerHandlers = new RpcHandlers<string>(code)
  const ownerOf = (object: number): number => (object === 70 ? 7 : object === 80 ? 8 : -1)
  const send =
    (side: number) =>
    (_rpc: Rpc, bytes: Uint8Array): 'queued' => {
      wire[side]!.push(bytes.slice())
      return 'queued'
    }
  const server = new RpcLine(
    'player 7',
    7,
    codec(),
    serverHandlers,
    {
      get tick() {
        return ticks.server
      },
      isAuthority: true,
      ownerOf,
    },
    send(0),
  )
  const player = new RpcLine(
    'server',
    0,
    codec(),
    playerHandlers,
    {
      get tick() {
        return ticks.player
      },
      isAuthority: false,
      ownerOf,
    },
    send(1),
  )
  const carry = (): void => {
    for (const bytes of wire[0]!.splice(0)) expect(player.accept(bytes, bytes.length)).toBe(true)
    for (const bytes of wire[1]!.splice(0)) expect(server.accept(bytes, bytes.length)).toBe(true)
  }
  return { server, player, carry, serverHandlers, playerHandlers, ticks, faults, wire }
}

describe('a call', () => {
  test('[RPC1] arrives with its values, its caller, its object and its tick', () => {
    const { server, player, carry, serverHandlers } = match()
    const received: unknown[] = []
    serverHandlers.on(Open, (values, context) => { received.push(values, context) })
    expect(player.call(Open, { door: 3, how: 'kick' }, 70)).toBe('queued')
    carry()
    server.deliver(110)
    expect(received).toEqual([{ door: 3, how: 'kick' }, { from: 'player 7', tick: 110, object: 70 }])
  })

  test('[RPC2] waits for its tick, and calls run in the order of ticks; a late one runs at once', () => {
    const { server, player, carry, serverHandlers, ticks } = match()
    const received: number[] = []
    serverHandlers.on(Open, ({ door }) => { received.push(door) })
    for (const [tick, door] of [[112, 1], [111, 2], [112, 3], [90, 4]] as const) {
      ticks.player = tick
      player.call(Open, { door }, 70)
    }
    carry()
    server.deliver(110)
    expect(received).toEqual([4])
    server.deliver(111)
    expect(received).toEqual([4, 2])
    server.deliver(112)
    expect(received).toEqual([4, 2, 1, 3])
  })

  test('[RPC3] by a player that only the authority may make is refused and counted, and so is the opposite', () => {
    const { server, player, carry, playerHandlers, serverHandlers } = match()
    serverHandlers.on(Boom, () => { throw new Error('never run') })
    playerHandlers.on(Open, () => { throw new Error('never run') })
    player.call(Boom, { x: 1 })
    player.call(Whisper, { text: 'psst' })
    server.call(Open, { door: 1 }, 70)
    carry()
    server.deliver(1e6)
    player.deliver(1e6)
    expect([server.refusals.forged, player.refusals.forged]).toEqual([2, 1])
  })

  test('[RPC4] about an object that another player owns, or that does not exist, is refused and counted', () => {
    const { server, player, carry, serverHandlers } = match()
    serverHandlers.on(Open, () => { throw new Error('never run') })
    for (const object of [80, 90, 0]) player.call(Open, { door: 1 }, object)
    player.call(Buy, { item: 'axe' }, 90)
    carry()
    server.deliver(1e6)
    expect(server.refusals.notOwner).toBe(4)
  })

  test("[RPC5] with a tick that never comes fills only its sender's space", () => {
    const { server, player, carry, ticks, serverHandlers } = match()
    let ran = 0
    serverHandlers.on(Open, () => { ran++ })
    ticks.player = Number.MAX_SAFE_INTEGER
    for (let each = 0; each < RPC_INBOX_MAX + 5; each++) player.call(Open, { door: 1 }, 70)
    carry()
    server.deliver(1e9)
    expect([ran, server.refusals.busy]).toEqual([0, 5])
  })
})

describe('a request', () => {
  const ask = (player: RpcLine<string>, deadline = 1000): RpcResult<Record<string, unknown>>[] => {
    const results: RpcResult<Record<string, unknown>>[] = []
    player.request(Buy, { item: 'axe' }, 0, deadline, (result) => results.push(result))
    return results
  }

  test('[RPC6] ends once: by its reply', () => {
    const { server, player, carry, serverHandlers, wire } = match()
    serverHandlers.on(Buy, ({ item }) => ({ isSold: item === 'axe', at: { price: 12.5 } }))
    const results = ask(player)
    carry()
    server.deliver(110)
    const [reply] = wire[0]!
    carry()
    player.accept(reply!, reply!.length)
    player.expire(1e9)
    player.close()
    expect(results).toEqual([{ isOk: true, values: { isSold: true, at: { price: 12.5 } } }])
  })

  test('[RPC6] ends once: by its deadline, and a late reply changes nothing', () => {
    const { server, player, carry, serverHandlers } = match()
    serverHandlers.on(Buy, () => ({ isSold: true, at: { price: 1 } }))
    const results = ask(player)
    expect(player.nextAt()).toBe(1000)
    player.expire(999)
    expect(results).toEqual([])
    player.expire(1000)
    expect(player.nextAt()).toBe(Infinity)
    carry()
    server.deliver(110)
    carry()
    expect(results).toEqual([{ isOk: false, reason: 'timed-out' }])
  })

  test('[RPC6] ends once: when the connection ends', () => {
    const { player } = match()
    const results = ask(player)
    player.close()
    player.close()
    expect(results).toEqual([{ isOk: false, reason: 'closed' }])
  })

  test('[RPC7] without a handler is refused; one whose handler throws or replies nonsense fails, with a report', () => {
    const { server, player, carry, serverHandlers, faults } = match()
    const results = [ask(player)]
    carry()
    server.deliver(110)
    serverHandlers.on(Buy, () => { throw new Error('out of stock') })
    results.push(ask(player))
    carry()
    server.deliver(110)
    serverHandlers.on(Buy, () => ({ isSold: 'perhaps' }) as never)
    results.push(ask(player))
    carry()
    server.deliver(110)
    carry()
    expect(results.flat().map((result) => !result.isOk && result.reason)).toEqual(['refused', 'failed', 'failed'])
    expect(faults).toHaveLength(2)
  })

  test('[RPC8] above the limit of waiting requests is refused as full', () => {
    const { player } = match()
    for (let each = 0; each < RPC_PENDING_MAX; each++) expect(ask(player)).toEqual([])
    expect(ask(player)).toEqual([{ isOk: false, reason: 'full' }])
  })
})
