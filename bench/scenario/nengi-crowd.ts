/**
 * The crowd in nengi 2: an instance with its own mock sockets, one channel for all clients, or one for each client
 * where views differ. It sends what changed since the tick before, and needs a transport that loses nothing.
 */

import { createRequire } from 'node:module'
import { FIELD_COUNT, FIELDS, type Frame } from '../scenario.ts'
import { natural, seesAll, writeObjects, type CrowdPeer, type Numbers, type Sees } from './crowd-peer.ts'

type Thing = Record<string, number>
/** As far as it is used here. */
interface Nengi {
  readonly Binary: Record<'Float32' | 'Int32' | 'Int16' | 'UInt16' | 'UInt8', number>
  readonly Context: new () => { register(type: number, of: unknown): void }
  readonly Instance: new (context: unknown) => Instance
  readonly Channel: new (state: unknown) => { subscribe(user: unknown): void; addEntity(entity: Thing): void }
  readonly Client: new (context: unknown, adapter: unknown, rate: number) => Client
  readonly MockInstanceAdapter: new (network: unknown, config: unknown) => Adapter
  defineSchema(fields: Record<string, number>): unknown
}
interface Instance {
  onConnect: () => Promise<boolean>
  readonly network: { onConnectionAccepted(user: unknown, payload: unknown): void }
  readonly localState: unknown
  registerChannel(channel: unknown): void
  step(): void
}
interface Adapter {
  createBuffer: (length: number) => Buffer
  createMockConnect(): { user: Record<string, unknown>; send: (bytes: Buffer) => void }
}
interface Client {
  readonly network: {
    readonly entities: Map<number, Thing>
    readonly snapshots: { readonly updateEntities: readonly { nid: number; prop: string; value: number }[] }[]
    readSnapshot(reader: unknown): void
  }
}

const require = createRequire(import.meta.url)
const nengi = require('nengi') as Nengi
const { BufferReader, BufferWriter } = require('nengi-buffers') as Record<
  'BufferReader' | 'BufferWriter',
  new (bytes: Buffer) => unknown
>
const CONNECTED = 3

export class NengiCrowd implements CrowdPeer {
  readonly name: string
  readonly #numbers: Numbers
  readonly #instance: Instance
  readonly #things: Thing[]
  readonly #client: Client
  #sent: Buffer = Buffer.alloc(0)
  #bytes = 0

  constructor(players: number, clients: number, numbers: Numbers, sees: Sees) {
    this.name = `nengi 2 ${numbers}`
    this.#numbers = numbers
    const { Float32: f, Int32, Int16, UInt16, UInt8 } = nengi.Binary
    const fields =
      numbers === 'f32'
        ? { x: f, y: f, z: f, vx: f, vy: f, vz: f, yaw: f, pitch: f, health: UInt8, flags: UInt8 }
        : {
            x: Int32,
            y: Int32,
            z: Int16,
            vx: Int16,
            vy: Int16,
            vz: Int16,
            yaw: UInt16,
            pitch: UInt16,
            health: UInt8,
            flags: UInt8,
          }
    const context = new nengi.Context()
    context.register(1, nengi.defineSchema(fields))
    this.#instance = new nengi.Instance(context)
    this.#instance.onConnect = async () => true
    this.#things = Array.from({ length: players }, () => ({
      nid: 0,
      ntype: 1,
      ...Object.fromEntries(FIELDS.map((name) => [name, 0])),
    }))
    this.#connect(clients, sees)
    this.#client = new nengi.Client(context, class {}, 60)
  }

  write(frame: Frame): void {
    writeObjects(this.#things, frame, this.#numbers)
  }

  send(): number {
    this.#bytes = 0
    this.#instance.step()
    return this.#bytes
  }

  receive(): void {
    const { network } = this.#client
    network.readSnapshot(new BufferReader(this.#sent))
    for (const { nid, prop, value } of network.snapshots.shift()!.updateEntities)
      network.entities.get(nid)![prop] = value
  }

  held(player: number, field: number): number {
    return this.#client.network.entities.get(this.#things[player]!['nid']!)?.[FIELDS[field]!] ?? NaN
  }

  expected(frame: Frame, player: number, field: number): number {
    const value = frame[player * FIELD_COUNT + field]!
    return this.#numbers === 'f32' ? Math.fround(natural(value, field)) : value
  }

  #connect(clients: number, sees: Sees): void {
    const instance = this.#instance
    const adapter = new nengi.MockInstanceAdapter(instance.network, {
      bufferCtor: Buffer,
      binaryWriterCtor: BufferWriter,
      binaryReaderCtor: BufferReader,
    })
    adapter.createBuffer = (length) => Buffer.allocUnsafe(length)
    const channels = Array.from({ length: sees === seesAll ? 1 : clients }, (_, client) => {
      const channel = new nengi.Channel(instance.localState)
      instance.registerChannel(channel)
      return {
        channel,
        fill: () =>
          this.#things.forEach((thing, player) => {
            if (sees(client, player)) channel.addEntity(thing)
          }),
      }
    })
    for (let client = 0; client < clients; client++) {
      const socket = adapter.createMockConnect()
      Object.assign(socket.user, { instance, connectionState: CONNECTED, lastReceivedClientTick: 0 })
      instance.network.onConnectionAccepted(socket.user, true)
      channels[client % channels.length]!.channel.subscribe(socket.user)
      socket.send = (bytes) => {
        this.#bytes += bytes.length
        if (client === 0) this.#sent = bytes
      }
    }
    for (const { fill } of channels) fill()
  }
}
