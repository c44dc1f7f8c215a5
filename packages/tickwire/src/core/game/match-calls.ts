/**
 * RPCs that every match has, numbered after those of the game: for shared objects and for spectators.
 *
 * The reply to a request for an object matters only to the requester. All clients, including the previous owner, learn
 * of a new owner with the object's state. So a transfer needs no message of its own and cannot get lost.
 */

import type { ObjectId, PeerId } from '../base/time.ts'
import { rpc, type Rpc } from '../rpc/rpc.ts'
import type { Field, Shape } from '../schema/field.ts'
import { bool, int, u32 } from '../schema/field-kinds.ts'
import { indexOf } from '../world/object-table.ts'
import type { World } from '../world/world.ts'
import type { Game, Peer } from './define-game.ts'

type AskShape = {
  readonly isWanted: typeof bool
}
type GrantShape = {
  readonly isGranted: typeof bool
  readonly tick: typeof u32
}

/** A player asks to write the object of the call, or gives it back to the server. */
export const AskAuthority: Rpc<AskShape, GrantShape> = rpc<AskShape, GrantShape>(
  { isWanted: bool },
  { to: 'server', reply: { isGranted: bool, tick: u32 }, name: 'AskAuthority' },
)

/** `whom` is the peer id of a player. 0: the player that is followed now. */
type SpectateShape = {
  readonly whom: typeof u32
  readonly step: Field<number>
}
type SpectatedShape = {
  readonly whom: typeof u32
}

/** A spectator asks to follow a player: `whom`, or the player before or after it. */
export const Spectate: Rpc<SpectateShape, SpectatedShape> = rpc<SpectateShape, SpectatedShape>(
  { whom: u32, step: int(-1, 1) },
  { to: 'server', reply: { whom: u32 }, name: 'Spectate' },
)

const OWN: readonly unknown[] = [AskAuthority, Spectate]

/** The number of RPCs that a match has in addition to those of its game. */
export const OWN_CALLS: number = OWN.length

/** All RPCs of a match. Indexed by number. */
export function callsOf(game: Pick<Game<Shape>, 'rpcs'>): readonly Rpc[] {
  return [...game.rpcs, ...OWN as readonly Rpc[]]
}

/** The connection of a possible receiver. */
interface CalledLine {
  readonly interest: { knows(id: ObjectId): boolean }
  /** A delayed spectator. It must not learn of the present. */
  readonly isLate: boolean
}

/** The receivers of a call by the authority. */
export function receiversOf<L extends CalledLine>(
  rpc: Rpc,
  to: Peer | undefined,
  about: ObjectId,
  lines: ReadonlyMap<PeerId, L>,
  world: World,
): readonly L[] {
  if (rpc.target === 'server')
    throw new RangeError(`${rpc.args.name}: a call to the authority, made by the authority. Declare it \`to\` another.`)
  if (rpc.target === 'all')
    return [...lines.values()].filter(({ interest, isLate }) => !isLate && (about === 0 || interest.knows(about)))
  const owner = about !== 0 && world.objects.isAlive(about) ? world.objects.ownerAt(indexOf(about)) : 0
  const line = lines.get(rpc.target === 'owner' ? owner : to?.id ?? 0)
  return line === undefined ? [] : [line]
}
