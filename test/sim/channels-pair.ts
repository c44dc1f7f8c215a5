/** Two connected endpoints with the same set of channels, for the scenarios of channels. */

import { expect } from 'vitest'
import { ChannelSet, type ChannelSpec } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import type { CongestionController } from '../../packages/tickwire/src/core/delivery/congestion/controller.ts'
import type { Weather } from '../../packages/tickwire/src/testing/memory-link.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'

const KIND = 0

export interface ChannelsPair {
  readonly pair: Pair
  readonly server: ChannelSet
  readonly client: ChannelSet
  readonly connection: Connection
}

/** Connects two channel sets in fair weather; the given weather begins afterwards. */
export function connectChannels(
  specs: readonly ChannelSpec[], weather: Weather = {}, seed: number = 1, congestion?: () => CongestionController,
): ChannelsPair {
  const server = new ChannelSet(specs)
  const client = new ChannelSet(specs)
  const attach = (set: ChannelSet) => (connection: Connection): void => {
    for (const source of set.sources) connection.addSource(KIND, source)
    connection.addSink(KIND, set)
  }
  const shared = congestion === undefined ? {} : { congestion }
  const pair = new Pair({
    seed,
    weather: { latencyMs: 10 },
    server: { ...shared, assemble: attach(server) },
    client: { ...shared, assemble: attach(client) },
  })
  const connection = pair.connect()
  expect(connection.isOpen, `SEED=${seed}`).toBe(true)
  pair.link.weather = weather
  return { pair, server, client, connection }
}

/** The number of the message in four bytes, then as many bytes as asked for. */
export function numbered(number: number, size: number = 4): Uint8Array {
  const bytes = new Uint8Array(Math.max(4, size)).fill(number)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

export function numberOf(message: Uint8Array): number {
  return new DataView(message.buffer, message.byteOffset).getUint32(0)
}

/** Everything that has arrived on a channel. */
export function received(set: ChannelSet, channel: number, bytesMax: number = 1024): Uint8Array[] {
  const out = new Uint8Array(bytesMax)
  const got: Uint8Array[] = []
  for (let length = set.receive(channel, out); length >= 0; length = set.receive(channel, out))
    got.push(out.slice(0, length))
  return got
}
