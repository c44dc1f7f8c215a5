/**
 * The limits of the R-Type protocol (docs/wire/RTYPE.md), each with its reason. `limits.ts` re-exports them.
 */

/** Bytes of a packet's payload: the protocol allows 1,200 bytes for a packet, 12 of them are its header. */
export const RTYPE_PAYLOAD_BYTES_MAX = 1188

/** Players of one match: GAME_START and GAME_END have places for this many. */
export const RTYPE_PLAYERS_MAX = 4

/** Fragments of one message: 18 KB, a snapshot of 1,500 entities. */
export const RTYPE_FRAGMENTS_MAX = 16

/** Incomplete messages of one peer. A peer sends one message after the other, so two overlap only when reordered. */
export const RTYPE_FRAGMENT_GROUPS_MAX = 4

/** An incomplete message is dropped after this: a reliable fragment is repeated every 500 ms at the slowest. */
export const RTYPE_FRAGMENT_MS = 2000

/** Bytes of a message after it was joined and inflated: the most that its fragments could carry without compression. */
export const RTYPE_MESSAGE_BYTES_MAX = 18_944

/** Reliable packets of one peer without an acknowledgement: four seconds of a busy match. Then the peer is removed. */
export const RTYPE_UNACKED_MAX = 512

/** Datagrams to one peer between two drains: a second of snapshots. More that are not reliable are dropped. */
export const RTYPE_OUTGOING_MAX = 256

/** Received packets that the program has not polled, of each priority. The oldest is dropped. */
export const RTYPE_INBOX_MAX = 256

/** Reject messages are longer than requests: how many addresses may save up bytes for one. The oldest is forgotten. */
export const RTYPE_CREDITS_MAX = 1024

/** Peers that have left and whose last packets are still acknowledged, and for how long. */
export const RTYPE_LEAVING_MAX = 32
export const RTYPE_LEAVING_MS = 1000

/** Entities that a client draws: many times what fits on a screen. It does not draw more. */
export const RTYPE_TRACKS_MAX = 4096
