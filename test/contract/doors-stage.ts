/**
 * What the tests of the doors share: raw TCP clients from addresses of their own, and a server that counts loopback
 * too.
 */

import { bool, defineGame, entity, fixed, type Game } from 'tickwire'
import { serve, type ServeOptions, type Serving } from 'tickwire/node'
import { RawClient } from '../../bench/attack/found/raw-client.ts'

export { until, UPGRADE } from '../../bench/attack/found/raw-client.ts'

const Player = entity({ x: fixed(0, 100, 0.1) })
export const game: Game = defineGame({
  tickRate: 60,
  input: { right: bool },
  entities: [Player],
  onJoin: (world, peer) => world.spawn(Player, { x: 10 }, peer),
  step() {},
}) as unknown as Game

/** A frame of a client, masked with zeros. */
export function frame(opcode: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  return Buffer.concat([Uint8Array.of(0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0), payload])
}

/** What a test file has opened; `closeAll` closes it, the newest first. */
export const closes: (() => unknown)[] = []

export async function closeAll(): Promise<void> {
  for (const close of closes.splice(0).reverse()) await close()
}

/** Serves a game on loopback, with the limits that strangers have. */
export async function start(options: ServeOptions = {}): Promise<{ serving: Serving; port: number }> {
  const serving = await serve(game, {
    port: 0,
    address: '127.0.0.1',
    webtransport: false,
    webrtc: false,
    udp: false,
    signals: false,
    ops: false,
    limits: { areLocalExempt: false },
    log: () => {},
    ...options,
  })
  closes.push(() => serving.close())
  return { serving, port: Number(new URL(serving.url).port) }
}

/** A raw client from an address of its own. */
export function visit(port: number, from: string, allowHalfOpen = false): RawClient {
  const client = new RawClient(port, from, allowHalfOpen)
  closes.push(() => client.socket.destroy())
  return client
}
