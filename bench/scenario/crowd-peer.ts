/** One way to send the crowd to its clients, so that rivals can take turns; and the measured time. */

import { FIELD_COUNT, FIELDS, type Frame } from '../scenario.ts'

/** A server and its clients. `write`, then `send`, then `receive`, for every tick. */
export interface CrowdPeer {
  readonly name: string
  /** Writes the state of a tick into the server's own objects, as a game would. */
  write(frame: Frame): void
  /** Makes the packets of all clients; returns their bytes in total. */
  send(): number
  /** Decodes the packets of the checked client. */
  receive(): void
  /** The checked client's value; NaN if it does not know the player. */
  held(player: number, field: number): number
  /** The expected value. */
  expected(frame: Frame, player: number, field: number): number
}

/** Whether a client sees a player: all players, or nine of ten, a different set for each client. */
export type Sees = (client: number, player: number) => boolean

export const seesAll: Sees = () => true
export const seesMost: Sees = (client, player) => (Math.imul(client * 7919 + player + 1, 0x9e37_79b1) >>> 16) % 10 !== 0

/**
 * CPU time that this process has used, in milliseconds. Waiting on a busy machine does not count; threads of the
 * garbage collector do.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Throws on the first value of the first client that is not what the server had. */
export function verify(peer: CrowdPeer, frame: Frame, sees: Sees, tick: number): void {
  for (let player = 0; player < frame.length / FIELD_COUNT; player++) {
    const isSeen = sees(0, player)
    for (let field = 0; field < FIELD_COUNT; field++) {
      const [is, should] = [peer.held(player, field), isSeen ? peer.expected(frame, player, field) : NaN]
      if (!Object.is(is + 0, should + 0))
        throw new Error(`${peer.name}, tick ${tick}: ${FIELDS[field]} of player ${player} is ${is}, not ${should}`)
    }
  }
}

/** The value of a field where floats are sent: metres, metres a second, radians. */
export function natural(value: number, field: number): number {
  if (field < 3) return value / 512
  if (field < 6) return value / 64
  if (field === 6) return Math.fround(value * Math.PI / 2048)
  return field === 7 ? Math.fround((value - 1024) * Math.PI / 2048) : value
}

/** How a peer stores numbers: as the integers of the crowd, or as floats. */
export type Numbers = 'quantised' | 'f32'

/** Writes a frame into plain objects with the crowd's fields. */
export function writeObjects(objects: readonly Record<string, number>[], frame: Frame, numbers: Numbers): void {
  for (let player = 0, at = 0; player < objects.length; player++) {
    const object = objects[player]!
    for (let field = 0; field < FIELD_COUNT; field++, at++)
      object[FIELDS[field]!] = numbers === 'f32' ? natural(frame[at]!, field) : frame[at]!
  }
}
