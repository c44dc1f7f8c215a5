/**
 * Rooms that move from one game server to another.
 *
 *   A: freeze ─▶ POST B/tickwire/fleet/thaw ─▶ B: restore, still frozen ─▶ claim ─▶ run ─▶ A: release, clients: moved
 *
 * The fleet decides which of the two has the room: the first that claims the move. A timeout alone decides nothing. If
 * B does not answer, A claims the move for itself: either B can no longer get it, or B has it already. If the fleet
 * does not answer either until A has to end, A gives the room up, because B may have it.
 *
 * Invariant: a room runs in one process at most.
 */

import { randomBytes } from 'node:crypto'
import { MOVED_HOLD_MS } from '../core/base/limits-fleet.ts'
import type { Match } from '../core/game/match.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import type { FrozenRoom } from '../core/rooms/room-mover.ts'
import { monotonicNow as now } from './clock.ts'
import type { FleetLink } from './fleet-link.ts'
import { movingRoomFromText, movingRoomToText } from './rooms-keep.ts'
import type { ServeLog } from './status-log.ts'

/** A room on its way may be megabytes. */
const MOVE_MS = 5000
/** How long the new server tries to list the room, before it answers: within the time of the move. */
const LIST_MS = 2500
const PAUSE_MS = 250
const THAW_PATH = '/tickwire/fleet/thaw'
/** Thaws that are remembered, for requests that are asked twice. */
const THAWS_MAX = 1024

/** What the moves need of their server. */
export interface MovesHome {
  readonly rooms: RoomHost<Match>
  readonly log: ServeLog
  /** There is something to send: drain soon. */
  wake(): void
}

export class FleetMoves {
  readonly #server: string
  readonly #link: FleetLink
  readonly #home: MovesHome
  readonly #report: () => Promise<boolean>
  /** Answers, keyed by move. */
  readonly #thaws = new Map<string, Promise<string>>()

  /** `server`: the id of this game server. `report`: lists its rooms in the fleet, and returns whether it has them. */
  constructor(server: string, link: FleetLink, home: MovesHome, report: () => Promise<boolean>) {
    this.#server = server
    this.#link = link
    this.#home = home
    this.#report = report
  }

  /** Hands a room to another game server, before `until`. Returns whether it has the room now. */
  async move(room: Match, until: number): Promise<boolean> {
    const { rooms, wake, log } = this.#home
    const targets = await this.#targetsFor(room)
    const frozen = targets.length === 0 ? undefined : rooms.freeze(now(), room)
    if (frozen === undefined) return false
    const isMoved = await this.#offer(frozen, targets, until)
    if (isMoved) {
      rooms.release(now(), room)
      log({ level: 'info', event: 'room-moved', message: 'a room moved to another process', facts: { room: room.id } })
    } else rooms.unfreeze(room)
    wake()
    return isMoved
  }

  /** Takes a room over. Returns its id, or why not. Asked twice, it answers alike. */
  thaw(text: string): Promise<{ readonly room: string } | { readonly refused: string }> {
    const { move, image, ticketKey } = movingRoomFromText(text)
    let taking = this.#thaws.get(move)
    if (taking === undefined) {
      taking = this.#take(move, { image, ticketKey })
      this.#thaws.set(move, taking)
      const [oldest = ''] = this.#thaws.keys()
      if (this.#thaws.size > THAWS_MAX) this.#thaws.delete(oldest)
    }
    return taking.then((refused) => refused === '' ? { room: image.id } : { refused })
  }

  async #targetsFor({ typeName, type: { game: { fingerprint } }, seats }: Match): Promise<readonly string[]> {
    const { body: { urls } } = await this.#link.ask('POST', '/fleet/moves', {
      from: this.#server, type: typeName, fingerprint: Buffer.from(fingerprint).toString('hex'), players: seats.players,
    })
    return Array.isArray(urls) ? urls.map(String) : []
  }

  async #offer(frozen: FrozenRoom, targets: readonly string[], until: number): Promise<boolean> {
    const move = randomBytes(16).toString('hex')
    const text = movingRoomToText({ ...frozen, move })
    for (const url of targets) {
      const { status, body } = await this.#link.askAt(url, 'POST', THAW_PATH, text, MOVE_MS)
      if (status === 200 && body['room'] === frozen.image.id) return true
      // A refusal is certain: that server does not have the room, and will not.
      if (status !== 0) continue
      for (;;) {
        const claimed = await this.#claim(move)
        if (claimed !== 'unknown') return claimed === 'taken'
        // It may run there. Here it would end now anyway, so its clients look for it.
        if (now() > until) return true
        await new Promise((resolve) => { setTimeout(resolve, PAUSE_MS) })
      }
    }
    return false
  }

  /** Empty when the room runs here now, otherwise why not. */
  async #take(move: string, frozen: FrozenRoom): Promise<string> {
    const { rooms, log, wake } = this.#home
    const room = rooms.thaw(now(), frozen, MOVED_HOLD_MS)
    if (typeof room === 'string') {
      log({ level: 'warn', event: 'room-not-taken', message: `a room of another process was refused: ${room}` })
      return room
    }
    room.isFrozen = true
    const claimed = await this.#claim(move)
    if (claimed === 'ours') rooms.unfreeze(room)
    else rooms.release(now(), room)
    wake()
    if (claimed !== 'ours') return 'not-claimed'
    // The other server tells its clients after this answer. The fleet must know by then where they have to go: a client
    // whose room is on no list takes another seat.
    for (const until = now() + LIST_MS; !await this.#report() && now() < until;)
      await new Promise((resolve) => { setTimeout(resolve, PAUSE_MS) })
    return ''
  }

  async #claim(move: string): Promise<'ours' | 'taken' | 'unknown'> {
    const { status, body: { owner } } = await this.#link.ask('POST', '/fleet/claims', { move, server: this.#server })
    return status !== 200 || typeof owner !== 'string' ? 'unknown' : owner === this.#server ? 'ours' : 'taken'
  }
}
