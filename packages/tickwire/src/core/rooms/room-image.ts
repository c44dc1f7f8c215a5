/**
 * A room as plain data, for a server that restarts during development. The world inside is an exact image
 * (world/world-image.ts); the seats, names and settings of the room are stored beside it.
 *
 * The format is not for storage: both processes must run the same version, and an image whose game has a different
 * fingerprint is refused.
 */

import type { PeerId } from '../base/time.ts'
import type { Metadata } from './join-body.ts'

/** The state of a match. */
export interface MatchImage {
  /** The world, as `encodeWorld` writes it. */
  readonly world: Uint8Array
  /** Peer ids of the bots. Their input functions are code, so the next process has to add them again. */
  readonly bots: readonly PeerId[]
}

/** The state of one room. */
export interface RoomImage extends MatchImage {
  /** The name of its room type. */
  readonly typeName: string
  /** The number that tickets refer to. */
  readonly number: number
  /** The id of the room. */
  readonly id: string
  /** The join code of a private room. Empty for a public room. */
  readonly code: string
  /** The seed of all random numbers in the match, 32 bits. */
  readonly seed: number
  /** Its metadata, chosen by the game. */
  readonly metadata: Metadata
  /** Its options, chosen when it was created. */
  readonly options: object
  /** A salted hash of its password. Undefined for a room without one. */
  readonly passwordHash: Uint8Array | undefined
  /** Whether new clients are refused. */
  readonly isLocked: boolean
  /** Eight bytes. The image is restored only into the same game. */
  readonly fingerprint: Uint8Array
  /** The seats that were taken or held. */
  readonly members: readonly MemberImage[]
}

/** One seat that was taken or held. */
export interface MemberImage {
  /** The id of the player. */
  readonly peer: PeerId
  /** The number of its newest ticket. */
  readonly serial: number
  /** Numbers of tickets that were sent to a client which resumes, and has not taken the seat yet. Default: none. */
  readonly promised?: readonly number[]
  /** Whether it watched. */
  readonly isSpectator: boolean
  /** The value that `onAuth` returned. */
  readonly user: unknown
  /** The join data of the client. */
  readonly data: unknown
  /** The user data of its token. */
  readonly tokenUser: Uint8Array | undefined
}
