/**
 * A whole match in memory: the real hosts, sealed packets, and paths with a delay of some ticks. The server's part of a
 * tick is a separate call, so that it can be measured: receive, step, send.
 */

import { DATAGRAM_BYTES_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { createClientHost, type ClientHost } from '../../packages/tickwire/src/core/game/client-host.ts'
import { createMatchHost } from '../../packages/tickwire/src/core/game/match-host.ts'
import type { Match } from '../../packages/tickwire/src/core/game/match.ts'
import type { RoomHost } from '../../packages/tickwire/src/core/rooms/room-host.ts'
import type { CryptoProvider } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { arenaGame, input, TICK_RATE } from './arena.ts'

type Input = typeof input
const NOW = 1

/** Datagrams in flight in one direction: a ring that copies its input. */
class Cable {
  readonly #slots = Array.from({ length: 64 }, () => ({ bytes: new Uint8Array(DATAGRAM_BYTES_MAX), length: 0, at: 0 }))
  #head = 0
  #tail = 0

  send(at: number, bytes: Uint8Array, length: number): void {
    const slot = this.#slots[this.#head++ & 63]!
    if (this.#head - this.#tail > 64) throw new Error('64 datagrams are on their way')
    // The whole buffer: a view of a part would be a new object for every datagram.
    if (bytes.length <= slot.bytes.length) slot.bytes.set(bytes)
    else for (let index = 0; index < length; index++) slot.bytes[index] = bytes[index]!
    slot.length = length
    slot.at = at
  }

  /** The next datagram that has arrived at a tick. */
  poll(tick: number): { readonly bytes: Uint8Array; readonly length: number } | undefined {
    if (this.#tail === this.#head) return undefined
    const slot = this.#slots[this.#tail & 63]!
    if (slot.at > tick) return undefined
    this.#tail++
    return slot
  }
}

interface Player {
  readonly host: ClientHost<Input>
  readonly address: string
  readonly toServer: Cable
  readonly toClient: Cable
  readonly held: Record<keyof Input, number | boolean> & { yaw: number; pitch: number }
}

export interface ArenaOptions {
  readonly fighters: number
  readonly spectators: number
  readonly seed: number
  readonly provider: CryptoProvider
  /** Delay in ticks, each way. */
  readonly delayTicks: number
}

export class ArenaMatch {
  readonly rooms: RoomHost<Match>
  readonly server: Match<Input>
  readonly players: readonly Player[]
  tick = 0
  /** Counters of datagrams to clients. */
  bytesOut = 0
  datagramsOut = 0
  bytesIn = 0
  datagramsIn = 0
  readonly #dice: Prng
  readonly #byAddress: ReadonlyMap<string, Player>
  readonly #delayTicks: number
  /**
   * Kept in an array, so that the double is not boxed again: the driver makes one double per tick, before the server's
   * part.
   */
  readonly #clock: (number | string)[] = ['now', 0]
  readonly #port = { send: (to: string, bytes: Uint8Array, length: number): void => this.#sendOut(to, bytes, length) }

  constructor({ fighters, spectators, seed, provider, delayTicks }: ArenaOptions) {
    const game = arenaGame(fighters)
    const security = { provider }
    this.#delayTicks = delayTicks
    this.#dice = new Prng(seed)
    const maxPlayers = fighters + spectators
    const { rooms, host } = createMatchHost(game, { security, entropy: new Dice(seed), maxPlayers, seed })
    this.rooms = rooms
    this.server = host
    this.players = Array.from({ length: fighters + spectators }, (_, index): Player => {
      const host = createClientHost(game, { security, entropy: new Dice(seed * 1000 + index) })
      const held = { ahead: 1, side: 0, yaw: index, pitch: 0, jump: false, fire: false }
      host.sampleInput = () => held as never
      return { host, address: `client ${index}`, toServer: new Cable(), toClient: new Cable(), held }
    })
    this.#byAddress = new Map(this.players.map((player) => [player.address, player]))
  }

  /** Connects all clients, one after the other, fighters first; then waits until the clocks are stable. */
  join(): void {
    for (const { host } of this.players) {
      host.connect(this.now, 'server')
      for (let ticks = 0; host.serverTick <= 0; ticks++) {
        if (ticks > 10 * TICK_RATE) throw new Error('a client could not join')
        this.run()
      }
    }
  }

  /** The time of the tick, in milliseconds. */
  get now(): number {
    return this.#clock[NOW] as number
  }

  run(): void {
    this.serveClients()
    this.serve()
  }

  /** All clients: change their inputs, receive, play, send. */
  serveClients(): void {
    this.tick++
    this.#clock[NOW] = this.tick * 1000 / TICK_RATE
    const { now, tick } = this
    for (const player of this.players) {
      const { host, toClient, toServer } = player
      this.#moveHands(player)
      for (let datagram = toClient.poll(tick); datagram !== undefined; datagram = toClient.poll(tick))
        host.handleDatagram(now, 'server', datagram.bytes, datagram.length)
      host.tick(now)
      host.drain(now, { send: (_to, bytes, length) => toServer.send(tick + this.#delayTicks, bytes, length) })
    }
  }

  /** The server's part of a tick. */
  serve(): void {
    const { now, tick, rooms } = this
    for (let index = 0; index < this.players.length; index++) {
      const { toServer, address } = this.players[index]!
      for (let datagram = toServer.poll(tick); datagram !== undefined; datagram = toServer.poll(tick)) {
        this.bytesIn += datagram.length
        this.datagramsIn++
        rooms.handleDatagram(now, address, datagram.bytes, datagram.length)
      }
    }
    rooms.tick(now)
    rooms.drain(now, this.#port)
  }

  #sendOut(to: string, bytes: Uint8Array, length: number): void {
    this.bytesOut += length
    this.datagramsOut++
    this.#byAddress.get(to)!.toClient.send(this.tick + this.#delayTicks, bytes, length)
  }

  #moveHands({ held }: Player): void {
    const dice = this.#dice
    held.yaw += (dice.nextFloat() - 0.5) * 0.08
    held.pitch = Math.max(-1, Math.min(1, held.pitch + (dice.nextFloat() - 0.5) * 0.02))
    if (dice.nextInt(0, 63) === 0) held.side = dice.nextInt(-1, 1)
    if (dice.nextInt(0, 127) === 0) held.ahead = dice.nextInt(0, 3) === 0 ? 0 : 1
    if (dice.nextInt(0, 31) === 0) held.fire = dice.nextInt(0, 3) === 0
    held.jump = dice.nextInt(0, 127) === 0
  }
}
