/**
 * A real server in a separate process, as the target of attacks: `victim-process.ts OPTIONS_JSON`.
 *
 * It serves rooms of one small game on loopback, over every transport that is installed. It answers each message from
 * the parent with the resources that the process uses at that moment: memory, file descriptors, CPU time, connections,
 * rooms and seats.
 */

import { readdirSync } from 'node:fs'
import { SpentTokens } from 'tickwire/engine'
import { serveRooms, type ServeRoomsOptions } from 'tickwire/node'
import { collect } from '../../harness.ts'
import { victimGame } from './victim-game.ts'

/** The resources that the process uses. */
export interface VictimReport {
  readonly rssBytes: number
  readonly heapBytes: number
  /** Open file descriptors, sockets included. */
  readonly descriptors: number
  /** CPU time of the process since it started, in ms. */
  readonly cpuMs: number
  readonly connections: number
  readonly rooms: number
  /** Taken player seats of all rooms. */
  readonly seats: number
}

/** Where the server listens. */
export interface VictimAddress {
  readonly port: number
  readonly udpPort: number
  readonly identity: string
  /** The code of a private room, if one was requested. */
  readonly code: string
}

/** Options that JSON cannot contain, because they are bytes. */
interface TextOptions {
  /** The secret of the server's identity, hexadecimal. */
  readonly identitySeed?: string
  /** The public key of the issuer whose tokens are required, hexadecimal. Needs `identitySeed`. */
  readonly tokenIssuer?: string
  readonly hasPrivateRoom?: boolean
}

const { identitySeed, tokenIssuer, hasPrivateRoom, ...options } = JSON.parse(
  process.argv[2] ?? '{}',
) as ServeRoomsOptions & TextOptions
const wallSeconds = (): number => Math.floor(Date.now() / 1000)
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))
const tokens = tokenIssuer === undefined ? undefined
  : { issuers: [bytesOf(tokenIssuer)], audience: 'victim', spent: new SpentTokens(wallSeconds()), wallSeconds }
const serving = await serveRooms({ match: { game: victimGame, capacity: 32 } }, {
  port: 0, address: '127.0.0.1', ops: false, signals: false, log: () => {}, ...options,
  ...(identitySeed !== undefined && { security: { identity: bytesOf(identitySeed), ...(tokens && { tokens }) } }),
})

process.on('message', () => {
  collect()
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({
    rssBytes: rss, heapBytes: heapUsed, descriptors: readdirSync('/proc/self/fd').length, cpuMs: (user + system) / 1000,
    connections: serving.rooms.endpoint.connections.length, rooms: serving.rooms.rooms.length,
    seats: serving.rooms.rooms.reduce((sum, room) => sum + room.seats.players, 0),
  } satisfies VictimReport)
})
process.on('disconnect', () => process.exit())
const { udp, identity } = serving.info
const code = hasPrivateRoom === true ? serving.rooms.create('match', { isPrivate: true }).code : ''
process.send?.({
  port: Number(new URL(serving.url).port),
  udpPort: udp?.port ?? 0,
  identity,
  code,
} satisfies VictimAddress)
