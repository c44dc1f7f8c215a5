/** Parts of the request of a client for a seat. */

import { isEqualConstantTime } from '../crypto/constant-time.ts'
import type { HostedRoom, RoomListing } from './hosted-room.ts'
import type { RoomPlan } from './invitations.ts'
import type { JoinRequest, SentRequest } from './join-body.ts'
import type { Asking, RoomRules } from './room-rules.ts'

/** The join data of a client. Undefined when it is invalid. */
export function dataOf({ joinCodec }: RoomRules['game'], bytes: Uint8Array): object | undefined {
  if (joinCodec !== undefined) return joinCodec.decode(bytes)
  return bytes.length === 0 ? {} : undefined
}

/** What the rules of a room type learn about an open or planned room. */
export function factsOf(site: HostedRoom | RoomPlan): Pick<Asking<unknown, object>, 'options' | 'room'> {
  if ('identity' in site) return { options: site.identity.options ?? {}, room: listingOf(site) }
  return { options: site.options, room: site.listing }
}

/** The listing of a room that is not open yet. */
function listingOf({ identity, type: { capacity } }: RoomPlan): RoomListing {
  const { id, typeName, metadata, passwordHash } = identity
  const hasPassword = passwordHash !== undefined
  return { id, type: typeName, players: 0, capacity, spectators: 0, metadata, isLocked: false, hasPassword }
}

/** The request as code of the game may see and log it, and the password. */
export function withoutPassword(
  sent: SentRequest,
): { readonly join: JoinRequest; readonly password: string | undefined } {
  const { optionsSize: _size, trace: _trace, password, ...join } = sent as SentRequest & { readonly password?: string }
  return { join: join as JoinRequest, password }
}

/** Whether two tokens have the same user. */
export function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : isEqualConstantTime(a, b)
}
