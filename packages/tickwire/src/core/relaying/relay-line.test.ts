import { expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { OrderRelay } from '../order-relay/order-relay.ts'
import { ConnectingLine, type Line } from './relay-line.ts'

const FRAME = (): BitReader => new BitReader(new Uint8Array(10))

function relayOf(players: number): OrderRelay {
  return new OrderRelay({ tickRate: 30, players, secret: 1 })
}

function enter(relay: OrderRelay, peer: number): Line<'in-lobby'> {
  const known = new ConnectingLine(relay).authenticate(peer, false)
  if (known === 'bad-signature') throw new Error(known)
  const lobby = known.joinLobby(0)
  if (lobby === 'full') throw new Error(lobby)
  return lobby
}

test('[LOCK43] a line goes through its stages in one order, and each handle is valid once', () => {
  const relay = relayOf(2)
  const connecting = new ConnectingLine(relay)
  const known = connecting.authenticate(7, false)
  if (known === 'bad-signature') throw new Error(known)
  expect(() => connecting.authenticate(7, false)).toThrow('a line is authenticated, and its handle of connecting')
  const lobby = known.joinLobby(0)
  if (lobby === 'full') throw new Error(lobby)
  expect(relay.slotOf(7)).toBe(0)
  expect(() => known.joinLobby(0)).toThrow('its handle of authenticated')
  expect(lobby.handlePrelude(0, FRAME())).toBe('ok')
  const game = lobby.startGame()
  expect(() => lobby.startGame()).toThrow('a line is in-game, and its handle of in-lobby')
  expect(game?.handleOrders(0, FRAME())).toBe('ok')
  const after = game?.endGame()
  expect(() => game?.handleOrders(0, FRAME())).toThrow('its handle of in-game')
  const closed = after?.close()
  expect(closed?.stage).toBe('disconnecting')
  expect(() => after?.close()).toThrow('a line is disconnecting')
  expect([connecting, known, lobby, game, after, closed].map((line) => line?.stage)).toEqual(
    ['connecting', 'authenticated', 'in-lobby', 'in-game', 'in-lobby', 'disconnecting'],
  )
})

test('[LOCK43] a client without a player is refused, and so is one without a slot', () => {
  const relay = relayOf(1)
  expect(new ConnectingLine(relay).authenticate(0, false)).toBe('bad-signature')
  enter(relay, 1)
  const second = new ConnectingLine(relay).authenticate(2, false)
  expect(second === 'bad-signature' ? second : second.joinLobby(0)).toBe('full')
  // The same player again takes its own slot.
  expect(enter(relay, 1).stage).toBe('in-lobby')
})

test('[LOCK43] an observer needs no slot, and its game never starts', () => {
  const relay = relayOf(1)
  const known = new ConnectingLine(relay).authenticate(9, true)
  const lobby = known === 'bad-signature' ? known : known.joinLobby(0)
  if (typeof lobby === 'string') throw new Error(lobby)
  expect([relay.slotOf(9), lobby.startGame(), lobby.handlePrelude(0, FRAME())]).toEqual([-1, undefined, 'ok'])
})
