/** The place of a match of two or three peers that send to each other directly. */

import { ConfigError } from '../base/assert.ts'
import { MESH_PLAYERS_MAX } from '../base/limits.ts'
import type { Millis, PeerId } from '../base/time.ts'
import { writeUtf8, utf8Size } from '../bits/utf8.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { pureProvider } from '../crypto/pure-provider.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { MeshClient, type MeshClientOptions } from '../game/mesh-client.ts'
import type { LockstepGame } from '../lockstep/define-lockstep.ts'
import type { LockstepRunner } from '../lockstep/lockstep-runner.ts'
import type { AnyOrder } from '../lockstep/order.ts'
import type { MeshEnd } from '../lockstep/mesh-feed.ts'
import type { MeshTimes } from '../lockstep/mesh-watch.ts'
import type { PathName } from './client-link.ts'
import { ConnectError } from './connect-error.ts'
import {
  LockstepRoom, refuseRanked, type LockstepDrive, type LockstepMachine, type LockstepOptions, type LockstepPlace,
} from './lockstep-room.ts'
import type { MeshSource } from './mesh-code.ts'
import type { MeshParty } from './mesh-gathering.ts'
import { meshName } from './mesh-name.ts'

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

/** Settings of a mesh that forms by a code. */
export interface MeshRules extends Partial<MeshTimes> {
  /** The seed of the match, 32 bits. That of player 1 counts. Default: random. */
  readonly seed?: number
}

/** How long to wait for all players: they start at different times. */
const MEET_MS = 60_000
/** After a leave, the others have this long to acknowledge it. */
const FAREWELL_MS = 1000
const SECRET_BYTES_MAX = 32

/**
 * A match of two or three players without a relay. The players meet by a code: the first one enters with what
 * `host(game, { mesh: 3 })` returned, the others with its code or link. Or each has an address that the others reach,
 * in a list.
 */
export function mesh(where: string | MeshSource, rules?: MeshRules): LockstepPlace
export function mesh(options: MeshOptions): LockstepPlace
export function mesh(where: string | MeshSource | MeshOptions, rules: MeshRules = {}): LockstepPlace {
  return {
    async enter(game, asked, machine) {
      refuseRanked(asked, 'a mesh')
      const { retryMs = MEET_MS } = asked
      const setup = typeof where === 'object' && 'peers' in where
        ? await setupOf(game, where, machine)
        : partySetup(
          rules, typeof where === 'string'
            ? await machine.joinMesh(where, retryMs, signerOf(machine)) : await where.party(retryMs, signerOf(machine)),
        )
      const drive = new MeshDrive(game, setup, asked, machine)
      await drive.meet(retryMs)
      return new LockstepRoom(drive, machine.platform)
    },
  }
}

/** The provider of a page cannot sign, and every peer of a mesh accepts connections. */
function signerOf({ provider, canSign = true }: LockstepMachine): CryptoProvider {
  return canSign ? provider : pureProvider
}

/** What a peer of a mesh needs, however the players met. */
interface MeshSetup {
  readonly options: Omit<MeshClientOptions, 'entropy'>
  /** For errors. */
  readonly place: string
  readonly port: DatagramPort
  /** Where the data goes, and why. */
  look(): { readonly path: PathName; readonly reason: string }
  close(): void
}

/** Peers at known addresses. */
async function setupOf(game: LockstepGame, options: MeshOptions, machine: LockstepMachine): Promise<MeshSetup> {
  checkPeers(game, options)
  const { peers, player, secret = '', ...rest } = options
  const { port, addresses } = await machine.openPeerPort(peers[player - 1], peers)
  return {
    options: { ...rest, player, peers: addresses, secret: bytesOf(secret), security: { provider: machine.provider } },
    place: peers.join(', '), port, close: () => port.close(),
    look: () => ({ path: 'direct', reason: 'the players were named by their addresses' }),
  }
}

/** Peers that met by a code. */
function partySetup(rules: MeshRules, party: MeshParty): MeshSetup {
  const { player, players, secret, identity, identities, provider, paths } = party
  const names = Array.from({ length: players }, (_, at) => meshName(at + 1))
  return {
    options: {
      ...rules, player, peers: names.map((name) => `peer/${name}`), secret, identities,
      security: { provider, identity },
    },
    place: 'the players of the mesh', port: paths.port, close: () => party.close(),
    look: () => {
      const others = names.filter((name) => name !== meshName(player)).map((name) => paths.pathTo(name))
      for (const kind of WORST_FIRST) {
        const found = others.find(({ path }) => path === kind)
        if (found !== undefined) return found
      }
      return { path: 'none', reason: '' }
    },
  }
}

const WORST_FIRST: readonly PathName[] = ['none', 'websocket', 'relay', 'direct']

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
  readonly #setup: MeshSetup
  readonly #machine: LockstepMachine
  #leaveBy: Millis = Infinity
  #isClosed = false

  constructor(game: LockstepGame<O>, setup: MeshSetup, { runner }: LockstepOptions, machine: LockstepMachine) {
    this.#machine = machine
    this.#setup = setup
    this.#client = new MeshClient(game, {
      ...setup.options, entropy: machine.platform.entropy, ...(runner && { runner }),
    })
    setup.port.onDatagram = (from, bytes, length) => {
      this.#client.handleDatagram(machine.platform.now(), from, bytes, length)
      this.onWork()
    }
  }

  get path(): PathName {
    return this.#setup.look().path
  }

  get pathReason(): string {
    return this.#setup.look().reason
  }

  get isAway(): boolean {
    const { feed } = this.#client
    return feed.status() === 'waiting' && feed.peers.some(({ blockedAt }) => blockedAt !== Infinity)
  }

  get runner(): LockstepRunner<O> {
    const { runner } = this.#client
    if (runner === undefined) throw new ConnectError(this.#setup.place, { by: 'network', code: 'unreachable' })
    return runner
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
        throw new ConnectError(this.#setup.place, reason, { ageMs: platform.ageMs() })
      }
      const nextAt = this.drive(now)
      await new Promise<void>((resolve) => { platform.later(Math.max(1, Math.min(nextAt - now, 50)), resolve) })
    }
  }

  drive(now: Millis): Millis {
    if (this.#isClosed) return Infinity
    this.#client.tick(now)
    const { port } = this.#setup
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
    const { port } = this.#setup
    this.#isClosed = true
    this.#client.close(now)
    this.#client.drain(now, { send: (to, bytes, length) => port.send(to, bytes, length) })
    // The socket has its own queue: the last datagrams are sent before it is closed.
    this.#machine.platform.later(FAREWELL_MS / 10, () => this.#setup.close())
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
