/**
 * A chat on the simulated network, determined by one seed: a server and some clients send each other numbered messages,
 * reliably and in order, in bad weather. A client that loses its connection connects again.
 *
 * Safety, always: on every connection each side receives 1, 2, 3, … with the content that was sent; nothing else,
 * nothing twice, nothing out of order. Liveness, once the weather has cleared: every client is connected and has
 * received everything.
 */

import { hashCombine, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { drain } from '../../packages/tickwire/src/core/endpoint/drain.ts'
import {
  type Endpoint, type EndpointEvent, createEndpoint,
} from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { DatagramPort } from '../../packages/tickwire/src/core/endpoint/datagram-port.ts'
import type { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import { SimClock } from '../../packages/tickwire/src/testing/sim-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { type NetResident, SimNetActor } from '../../packages/tickwire/src/testing/sim-net-actor.ts'
import type { SimNode } from '../../packages/tickwire/src/testing/sim-net-node.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { type NetWeather, calm } from '../../packages/tickwire/src/testing/weather.ts'
import { drawWeather } from '../../packages/tickwire/src/testing/weather-draw.ts'

const KIND = 3
const STEP_MS = 20
const STORM_MS = 12_000
/** Longer than it takes to notice a dead connection and to connect again. */
const CALM_MS = 15_000
/** The probability that a side sends a message in a step: some chats are quiet, some outrun every window. */
const SAY_CHANCES = [0.05, 0.2, 0.9] as const

/** The result of a chat. */
export interface ChatReport {
  readonly problem: string | undefined
  readonly traceHash: string
  readonly weather: NetWeather
  readonly tally: LinkTally
  readonly moves: number
  readonly clocks: { readonly jumps: number; readonly sleeps: number; readonly pauses: number }
  readonly messages: number
  readonly connections: number
}

/** Plays the chat of a seed, in its own weather (with corruption: packets are sealed) or in the one given. */
export function playChat(seed: number, weather: NetWeather = drawWeather(seed, { without: [] })): ChatReport {
  return new Chat(seed, weather).play()
}

/** One side of one connection. */
interface Talk {
  readonly connection: Connection
  readonly channel: ReliableOrderedChannel
  said: number
  received: number
}

class Talker implements NetResident {
  readonly endpoint: Endpoint
  readonly node: SimNode
  readonly talks: Talk[] = []
  openCount = 0
  /** Reads its messages every other second only. */
  isLazy = false
  readonly #chat: Chat
  readonly #server: SimNode | undefined
  readonly #incoming = new Uint8Array(1024)

  /** A client if there is a `server`. */
  constructor(chat: Chat, node: SimNode, seed: number, server: SimNode | undefined) {
    this.#chat = chat
    this.node = node
    this.#server = server
    this.endpoint = createEndpoint({
      fingerprint: new Uint8Array(8), entropy: new Dice(seed), maxConnections: server === undefined ? 16 : 0,
      security: { provider: chat.crypto }, assemble: (connection) => this.#begin(connection),
    })
  }

  handleDatagram(now: number, from: string, bytes: Uint8Array, length: number): void {
    this.endpoint.handleDatagram(now, from, bytes, length)
  }

  pump(now: number, port: Pick<DatagramPort, 'send'>): number {
    if (this.#server !== undefined && this.talks.length === 0) this.endpoint.connect(now, this.#server.address)
    // A node that is busy blocks its peers: their messages wait, and are not lost.
    if (!this.isLazy || Math.floor(now / 1000) % 2 === 0) for (const talk of this.talks) this.#listen(talk)
    return drain(this.endpoint, now, port, (event) => this.#handle(event))
  }

  say(talk: Talk): void {
    const number = talk.said + 1
    const bytes = messageOf(number)
    if (talk.channel.send(bytes) === 'queued') talk.said = number
  }

  #begin(connection: Connection): void {
    const channel = new ReliableOrderedChannel()
    connection.addSource(KIND, channel)
    connection.addSink(KIND, channel)
    this.talks.push({ connection, channel, said: 0, received: 0 })
  }

  #handle(event: EndpointEvent): void {
    if (event.type === 'opened') this.openCount++
    else this.talks.splice(this.talks.findIndex(({ connection }) => connection === event.connection), 1)
  }

  #listen(talk: Talk): void {
    for (
      let length = talk.channel.receive(this.#incoming);
      length >= 0;
      length = talk.channel.receive(this.#incoming)
    ) {
      const number = new DataView(this.#incoming.buffer).getUint32(0)
      const expected = messageOf(talk.received + 1)
      const isRight = length === expected.length && expected.every((byte, index) => byte === this.#incoming[index])
      if (!isRight) this.#chat.problem ??= `${this.node.name} received ${number} after ${talk.received}`
      talk.received++
      this.#chat.note(this.node.index, number)
    }
  }
}

/**
 * The number of the message, and a length that follows from the number and is large now and then, so that the content
 * can be checked.
 */
function messageOf(number: number): Uint8Array {
  const bytes = new Uint8Array(number % 10 === 0 ? 1000 : 4 + (number % 97)).fill(number)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

class Chat {
  problem: string | undefined
  /** One guard for all nodes: it sees every nonce that is ever used. */
  readonly crypto = new StubCrypto()
  readonly #clock = new SimClock()
  readonly #net: SimNet
  readonly #server: Talker
  readonly #clients: Talker[]
  readonly #actors: SimNetActor[] = []
  readonly #dice: Dice
  readonly #weather: NetWeather
  readonly #trace = new Uint32Array(2)
  #messages = 0

  constructor(seed: number, weather: NetWeather) {
    this.#dice = new Dice(seed ^ 0xc4a7)
    this.#weather = weather
    this.#net = new SimNet({ seed, weather })
    const serverNode = this.#net.addNode('server', { isFixed: true })
    this.#server = new Talker(this, serverNode, seed ^ 0x5e7, undefined)
    const count = 1 + (this.#dice.word() % 4)
    this.#clients = Array.from({ length: count }, (_, index) =>
      new Talker(this, this.#net.addNode(`client ${index}`), seed + index * 7919, serverNode))
    for (const talker of [this.#server, ...this.#clients]) {
      talker.isLazy = this.#dice.chance(0.3)
      this.#actors.push(new SimNetActor(this.#net, talker.node, this.#clock, talker))
    }
  }

  play(): ChatReport {
    const sayChance = SAY_CHANCES[this.#dice.word() % SAY_CHANCES.length]!
    this.#run(STORM_MS, sayChance)
    this.#net.setWeather(this.#clock.now, calm())
    this.#run(CALM_MS - 2000, sayChance)
    this.#run(2000, 0)
    this.#checkEnd()
    return {
      problem: this.problem,
      traceHash: hashHex(this.#trace, 0),
      weather: this.#weather,
      tally: this.#net.tally,
      moves: this.#net.moves,
      clocks: this.#clockTallies(),
      messages: this.#messages,
      connections: this.#server.openCount,
    }
  }

  /** A message was received: part of the trace. */
  note(who: number, number: number): void {
    this.#messages++
    hashCombine(this.#trace, 0, number, who)
    hashCombine(this.#trace, 0, Math.floor(this.#clock.now * 1000) >>> 0, who)
  }

  #run(ms: number, sayChance: number): void {
    for (let passed = 0; passed < ms && this.problem === undefined; passed += STEP_MS) {
      for (const talker of [this.#server, ...this.#clients]) {
        for (const talk of talker.talks) if (talk.connection.isOpen && this.#dice.chance(sayChance)) talker.say(talk)
      }
      for (const actor of this.#actors) actor.wake(this.#clock.now)
      this.#clock.drive(STEP_MS)
      const { sent, copies, delivered, dropped } = this.#net.tally
      if (sent + copies !== delivered + dropped + this.#net.flying) this.problem ??= 'a datagram vanished'
    }
  }

  #checkEnd(): void {
    for (const client of this.#clients) {
      const talk = client.talks.find(({ connection }) => connection.isOpen)
      const far = this.#server.talks.find(
        ({ connection }) => connection.isOpen && connection.address === client.node.address,
      )
      if (talk === undefined || far === undefined) this.problem ??= `${client.node.name} is not connected`
      else if (talk.received !== far.said)
        this.problem ??= `${client.node.name} received ${talk.received} of ${far.said}`
      else if (far.received !== talk.said)
        this.problem ??= `the server received ${far.received} of ${talk.said} from ${client.node.name}`
    }
  }

  #clockTallies(): ChatReport['clocks'] {
    const clocks = { jumps: 0, sleeps: 0, pauses: 0 }
    for (const { clock } of this.#net.nodes) {
      for (const key of ['jumps', 'sleeps', 'pauses'] as const) clocks[key] += clock.tally[key]
    }
    return clocks
  }
}
