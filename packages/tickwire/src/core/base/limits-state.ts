/**
 * Limits of interpolation, rewinding, replication and recording. `limits.ts` re-exports them: import them from there.
 */

/**
 * Bits per component of a quantised rotation: below 3 there is no information, above the maximum integers are not
 * exact.
 */
export const QUAT_BITS_MIN = 3
export const QUAT_BITS_MAX = 20

/** Bits of the longest prefix code: the maximum cost of a symbol, and the bits that one lookahead must hold. */
export const PREFIX_BITS_MAX = 12

/** Default history of a Timeline: longer than any playable round trip. */
export const TIMELINE_WINDOW_MS = 1000

/**
 * Fractions of a tick: a moment between two ticks has steps of 2^-8. 31 microseconds at 128 Hz, and exact in a double.
 */
export const VIEW_TICK_STEPS = 256

/** How long an object without updates is extrapolated. A turn cannot be predicted for longer than a quarter second. */
export const EXTRAPOLATION_MS = 250

/** Half-life of a visual correction: slower looks like sliding on ice, faster like a jump. 99 % in 0.3 s. */
export const SMOOTHING_HALF_LIFE_MS = 80

/**
 * Predicted spawns that a view remembers after they ended, until the authority confirms them: a second of a shotgun of
 * eight pellets at 128 Hz. A spawn that is forgotten is shown a second time.
 */
export const ENDED_SPAWNS_MAX = 1024

/** Arrivals from which the interpolation delay is estimated: a second at 128 Hz, six at 20 Hz. */
export const ARRIVALS_REMEMBERED = 128

/** Default maximum rewind of a shot: beyond it, the target has been behind its cover for too long. */
export const REWIND_MS = 250

/** Default number of rewinds per tick, all players together: 32 players that fire in every other tick. */
export const REWINDS_PER_TICK = 16

/** Ticks that a Timeline remembers: 16 seconds at 128 Hz. A recording serves for longer history. */
export const TIMELINE_TICKS_MAX = 2048

/** Rows of one entity in a Timeline: a reference has 24 bits for them. */
export const TIMELINE_ROWS_MAX: number = 2 ** 24

/**
 * An object leaves the view at this many times the distance at which it entered, so that it does not flicker at the
 * border.
 */
export const INTEREST_LEAVE_RATIO = 1.1

/** The priority of an entity: above this an object of priority 1 would wait for minutes. */
export const INTEREST_PRIORITY_MAX = 1000

/** View positions of one client: a strategy game has many units, and each one of them costs a search. */
export const VIEWPOINTS_MAX = 64

/** Grid cells on each side of a viewer: with more, a search visits more empty cells than objects. */
export const GRID_RINGS_MAX = 16

/**
 * Bytes in one chunk of a recording: 65,536 objects of 250 bytes each. A larger tick is not recorded, and is counted.
 */
export const RECORDING_CHUNK_BYTES_MAX: number = 2 ** 24

/** Ticks in one chunk of a recording: four seconds of the fastest game. A crash loses the unwritten chunk. */
export const RECORDING_CHUNK_TICKS_MAX = 4096

/** Interval of writes and of seek points: the most that a crash loses, and the most that a seek must replay. */
export const RECORDING_FLUSH_MS = 500
export const RECORDING_KEY_MS = 1000

/**
 * Bytes of the game's text in the head of a recording, and of the names of its entities: room for a long definition.
 */
export const RECORDING_TEXT_BYTES_MAX: number = 2 ** 18
export const RECORDING_NAME_BYTES_MAX = 64

/** Bytes of one note or packet in a recording. */
export const RECORDING_ENTRY_BYTES_MAX: number = 2 ** 20

/**
 * Random draws per tick that a range-coded recording counts instead of storing their words: a reader draws as often.
 */
export const RECORDING_DRAWS_MAX = 1023

/** Default duration of a ring of the last moments of a match, and its maximum size. */
export const RECORDING_RING_MS = 60_000
export const RECORDING_RING_BYTES_MAX: number = 2 ** 26

/**
 * Objects that a client may request in full at the same time: they fit one packet. It requests more when these arrived.
 */
export const WANTED_ROWS_MAX = 192

/**
 * Undecodable snapshots in a row: ten seconds at 60 Hz and six packets each. After that the peer is broken or
 * dishonest.
 */
export const UNDECODABLE_FRAMES_MAX = 4096

/**
 * Bytes of the tables that a match may send to its clients while it runs, as text and packed. Training produces about
 * 10,000 to 50,000 bytes of text for an entity. Unpacking this many takes half a second, whatever they contain.
 */
export const TABLES_BYTES_MAX: number = 2 ** 20

/** Bytes of tables in one frame: two fit a packet, or one beside a snapshot. */
export const TABLES_PIECE_BYTES = 512

/** Bytes of a client's trace: ten minutes of an arena game. A longer trace is not useful in a bug report. */
export const TRACE_BYTES_MAX: number = 32 * 1024 * 1024
