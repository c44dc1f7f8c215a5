/** The limits of hosts whose rooms belong to a fleet, each with its reason. `limits.ts` re-exports them. */

/** Seats that are reserved at once on one host, and requests that are remembered: as many as it has connections. */
export const RESERVATIONS_MAX = 4096

/** How long a reserved seat is kept: a client connects within a second, or after a retry of its network. */
export const RESERVATION_MS = 10_000

/**
 * How long a request is remembered, so that a repeated one is answered alike: longer than any deadline of a request.
 */
export const RESERVATION_ANSWER_MS = 60_000

/** Clients of one request: a party. */
export const PARTY_MAX = 64

/** Rooms that moved away and are remembered, so that a late client is sent on: four times the default of rooms. */
export const ROOMS_MOVED_MAX = 1024

/**
 * How long the seats of a room are held at least after it moved: its players look for it in the fleet, which may take
 * seconds when a store is down.
 */
export const MOVED_HOLD_MS = 20_000

/** Bytes of a request of the fleet: a room on its way is the largest. A world of 8 MiB is 11 MiB as text. */
export const FLEET_BODY_BYTES_MAX = 16_777_216

/** Bytes of an answer of the fleet, or of one of its game servers: tokens of a party, or the players of a room. */
export const JSON_ANSWER_BYTES_MAX = 1_048_576

/** How long a client waits for an answer of the fleet, which asks three servers at most. */
export const FLEET_ASK_MS = 3000

/** Results of matches that wait on a game server until the fleet has them. The oldest is dropped for a newer one. */
export const RESULTS_WAITING_MAX = 1000

/** The text of a result: a table of a thousand players fits. */
export const RESULT_CHARS_MAX = 32_768

/** A result with its signature, as it is sent: its text grows when it is quoted. */
export const RESULT_BYTES_MAX = 65_536
