/** Colyseus' server of the end-to-end bench: a room with a simulation interval and patches at the tick rate. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Room, Server, type Client } from '@colyseus/core'
import { WebSocketTransport } from '@colyseus/ws-transport'
import { Player, State } from './colyseus-state.ts'
import { reportWhenAsked, TickWatch } from './server-report.ts'
import { angleOf, FIELD, moved, TICK_RATE, type Keys } from './workload.ts'

const [players] = process.argv.slice(2).map(Number) as [number]
const watch = new TickWatch(TICK_RATE)

class Field extends Room {
  override state = new State()
  override maxClients = players
  override patchRate = 1000 / TICK_RATE
  readonly #keys = new Map<string, Keys>()
  #joined = 0

  override onCreate(): void {
    this.onMessage('input', (client: Client, keys: Keys) => {
      this.#keys.set(client.sessionId, keys)
    })
    this.setSimulationInterval(() => this.#step(), 1000 / TICK_RATE)
  }

  override onJoin(client: Client): void {
    const player = new Player()
    const index = this.#joined++
    player.x = (index * 37) % FIELD
    player.y = (index * 91) % FIELD
    player.angle = 0
    player.fired = 0
    this.state.players.set(client.sessionId, player)
  }

  #step(): void {
    watch.tick()
    for (const [session, player] of this.state.players) {
      const keys = this.#keys.get(session)
      if (keys === undefined) continue
      player.x = moved(player.x, keys.dx)
      player.y = moved(player.y, keys.dy)
      player.angle = angleOf(keys)
      if (keys.fire) player.fired = (player.fired + 1) & 255
    }
  }
}

const http = createServer()
const server = new Server({ transport: new WebSocketTransport({ server: http }), greet: false })
server.define('field', Field)
await server.listen(0, '127.0.0.1')
reportWhenAsked(watch, (http.address() as AddressInfo).port)
