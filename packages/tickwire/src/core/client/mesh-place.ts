/** The place of a match of two or three peers that send to each other directly. */

import { ConfigError } from '../base/assert.ts'
import { MESH_PLAYERS_MAX } from '../base/limits.ts'
import type { Millis, PeerId } from '../base/time.ts'
import { writeUtf8, utf8Size } from '../bits/utf8.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import { MeshClient } from '../game/mesh-client.ts'
import type { LockstepGame } from '../lockstep/define-lockstep.ts'
import type { LockstepRunner } from '../lockstep/lockstep-runner.ts'
import type { AnyOrder } from '../lockstep/order.ts'
import type { MeshEnd } from '../lockstep/mesh-feed.ts'
import type { MeshTimes } from '../lockstep/mesh-watch.ts'
import { ConnectError } from './connect-error.ts'
import {
  LockstepRoom, refuseRanked, type LockstepDrive, type LockstepMachine, type LockstepOptions, type LockstepPlace,
  type PeerPort,
} from './lockstep-room.ts'

/** The players of a mesh, and which of them this one is. */
export interface MeshOptions extends Partial<MeshTimes> {
  /** The addresses of all players, the same list for all: `udp://host:port`. Two or three. */
  readonly peers: readonly string[]
  /** The local player: the place of its address in `peers`, from 1 on. */
  readonly player: PeerId
  /** A word that the players agreed on. A peer with another word is refused. At most 32 bytes. Default: none. */
  readonly secret?: string
  /** The seed of the match, 32 bits. That of player 1 counts. Default: random. */
  readonly seed?: number
}

/** How long to wait for all players: they start at different times. */
const MEET_MS = 60_000
/** After a leave, the others have this long to acknowledge it. */
const FAREWELL_MS = 1000
const SECRET_BYTES_MAX = 32

/** A match of two or three players without a relay. Each needs an address that the others reach. */
export function mesh(options: MeshOptions): LockstepPlace {
  return {
    async enter(game, asked, machine) {
      refuseRanked(asked, 'a mesh')
      checkPeers(game, options)
      const { peers, player } = options
      const opened = await machine.openPeerPort(peers[player - 1], peers)
      const drive = new MeshDrive(game, options, asked, machine, opened)
      await drive.meet(asked.retryMs ?? MEET_MS)
      return new LockstepRoom(drive, machine.platform)
    },
  }
}

function checkPeers({ players: [least, most] }: LockstepGame, { peers, player, secret = '' }: MeshOptions): void {
  const { length } = peers
  if (length < 2 || length > MESH_PLAYERS_MAX) {
    throw new ConfigError(
      'mesh.peers', `invalid number of players (expected 2 to ${MESH_PLAYERS_MAX}, got ${length})`,
      'use hosting() or relay(url) for more players, and local() for one.',
    )
  }
  if (length < least || length > most) {
    throw new ConfigError(
      'mesh.peers', `the game has other numbers of players (expected ${least} to ${most}, got ${length})`,
      'change the list, or `players` of the game.',
    )
  }
  if (!(Number.isInteger(player) && player >= 1 && player <= length)) {
    throw new ConfigError(
      'mesh.player', `no such player (expected 1 to ${length}, got ${player})`, 'give the place of its address.',
    )
  }
  if (utf8Size(secret) > SECRET_BYTES_MAX)
    throw new ConfigError('mesh.secret', `too long (expected at most ${SECRET_BYTES_MAX} bytes)`, 'shorten it.')
}

/** A peer of a mesh on a real port. */
class MeshDrive<O extends readonly AnyOrder[]> implements LockstepDrive<O> {
  readonly transport = 'udp'
  onWork: () => void = () => {}
  onAway: () => void = () => {}
  onBack: () => void = () => {}
  onEnd: (reason: CloseReason) => void = () => {}
  readonly #client: MeshClient<O>
  readonly #peer: PeerPort
  readonly #machine: LockstepMachine
  readonly #place: string
  #leaveBy: Millis = Infinity
  #isClosed = false

  constructor(
    game: LockstepGame<O>, options: MeshOptions, { runner }: LockstepOptions, machine: LockstepMachine, peer: PeerPort,
  ) {
    const { secret = '', ...rest } = options
    this.#machine = machine
    this.#peer = peer
    this.#place = options.peers.join(', ')
    this.#client = new MeshClient(game, {
      ...rest, peers: peer.addresses, secret: bytesOf(secret), entropy: machine.platform.entropy,
      security: { provider: machine.provider }, ...(runner && { runner }),
    })
    peer.port.onDatagram = (from, bytes, length) => {
      this.#client.handleDatagram(machine.platform.now(), from, bytes, length)
      this.onWork()
    }
  }

  get isAway(): boolean {
    const { feed } = this.#client
    return feed.status() === 'waiting' && feed.peers.some(({ blockedAt }) => blockedAt !== Infinity)
  }

  get runner(): LockstepRunner<O> {
    if (this.#client.runner === undefined) throw new ConnectError(this.#place, { by: 'network', code: 'unreachable' })
    return this.#client.runner
  }

  /** Resolves when all peers are connected. */
  async meet(ms: Millis): Promise<void> {
    const { platform } = this.#machine
    const deadline = platform.now() + ms
    this.onWork = () => { this.drive(platform.now()) }
    while (!this.#client.isOpen) {
      const now = platform.now()
      const { refused } = this.#client
      if (now > deadline || refused !== undefined) {
        this.#close(now)
        const reason = refused ?? { by: 'network', code: 'unreachable' }
        throw new ConnectError(this.#place, reason, { ageMs: platform.ageMs() })
      }
      const nextAt = this.drive(now)
      await new Promise<void>((resolve) => { platform.later(Math.max(1, Math.min(nextAt - now, 50)), resolve) })
    }
  }

  drive(now: Millis): Millis {
    if (this.#isClosed) return Infinity
    this.#client.tick(now)
    const { port } = this.#peer
    const nextAt = this.#client.drain(now, { send: (to, bytes, length) => port.send(to, bytes, length) })
    const { ended, isAcknowledged } = this.#client.feed
    if (this.#leaveBy !== Infinity && (now >= this.#leaveBy || isAcknowledged)) return this.#end(now, 'left')
    if (ended !== undefined) return this.#end(now, ended)
    return Math.min(nextAt, this.#leaveBy)
  }

  leave(now: Millis): void {
    this.#client.leave(now)
    this.#leaveBy = now + FAREWELL_MS
  }

  #end(now: Millis, why: MeshEnd): Millis {
    this.#close(now)
    const isLost = why === 'line-lost'
    this.onEnd(isLost ? { by: 'network', code: why } : { by: 'local', code: why === 'left' ? why : 'ended' })
    return Infinity
  }

  #close(now: Millis): void {
    const { port } = this.#peer
    this.#isClosed = true
    this.#client.close(now)
    this.#client.drain(now, { send: (to, bytes, length) => port.send(to, bytes, length) })
    // The socket has its own queue: the last datagrams are sent before it is closed.
    this.#machine.platform.later(FAREWELL_MS / 10, () => port.close())
  }
}

function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Size(text))
  if (bytes.length === 0) return bytes
  const writer = new BitWriter(bytes)
  writeUtf8(writer, text)
  writer.finish()
  return bytes
}
