/**
 * Every limit of the engine, each with its reason. Nothing else in core spells a bound.
 *
 * A limit here is what an attacker, a bug or a bad day can cost us at most.
 */

/**
 * Bytes of a datagram that cross any path unfragmented: IPv6 promises 1,280, less 40 + 8 for IPv6 and UDP
 * headers, less 32 for tunnels (PPPoE, VPN) that eat into it.
 */
export const DATAGRAM_BYTES_SAFE = 1200

/** Largest datagram any transport may hand in or out: an Ethernet frame's payload, so buffers fit one page pair. */
export const DATAGRAM_BYTES_MAX = 1500

/** Bits of one bit-field write or read: one machine word, so that the accumulator never needs two. */
export const BIT_FIELD_BITS_MAX = 32

/** Bytes of one text or bytes value, unless the field asks for less: a chat line or a name, never a document. */
export const VALUE_BYTES_MAX = 16_383

/** Items of one list field: more than that is a table of objects, and should be one. */
export const LIST_ITEMS_MAX = 1024

/** How deep structs, lists and groups nest: recursion in decoders is bounded by this and not by the input. */
export const SCHEMA_DEPTH_MAX = 8

/** Int32 lanes of one object's row: 16 KiB a row, so that rings of rows stay in memory. Far beyond any game seen. */
export const SCHEMA_LANES_MAX = 4096

/** Bytes under one bit cursor: bit positions stay below 2^30, small integers in every engine (31-bit ones in Chrome). */
export const BIT_BUFFER_BYTES_MAX: number = 2 ** 27 - 1

/** Bits per component of a quantised rotation: below 3 there is nothing to say, and the codec's integers stay exact up to here. */
export const QUAT_BITS_MIN = 3
export const QUAT_BITS_MAX = 20

/** Kinds of frame a connection can carry: what the 4-bit kind field names. Also the most sources one packet can serve. */
export const FRAME_KINDS_MAX = 16

/** Bytes of one frame's body: what its 14-bit length field names. */
export const FRAME_BYTES_MAX = 16_383

/** Frames of one packet on the way out: a source that never says "no more" costs this much and not a hang. */
export const FRAMES_PER_PACKET_MAX = 64

/** Packets behind the newest that are still told apart as new or replayed: 8 s at 128 Hz, 128 bytes a connection. */
export const REPLAY_WINDOW_PACKETS = 1024

/** Packets whose fate is still awaited: 2 s at 128 Hz. Beyond that the oldest is given up for lost. */
export const SENT_PACKETS_MAX = 256

/** Packets of one connection in one flush: a source with much to say must leave the rest for later, not flood a router. */
export const PACKETS_PER_FLUSH_MAX = 32

/** Messages of a reliable channel between the oldest unacknowledged and the newest sent. */
export const RELIABLE_WINDOW_MESSAGES = 256

/** Bytes of one message: fits a safe datagram beside header (22), acks (13), frame heads (7) and a future tag (16). */
export const MESSAGE_BYTES_MAX = 1024

/** Bytes of messages one channel holds in each direction: a slow or hostile peer pins this much and no more. */
export const MESSAGE_STORE_BYTES_MAX = 65_536

/** Connections one endpoint accepts: their slot numbers are 12 bits of the connection id. */
export const CONNECTIONS_MAX = 4096

/** Connections one endpoint opens itself: they are found by a scan. */
export const OUTGOING_CONNECTIONS_MAX = 64

/** Answers to strangers that wait for the next flush; more are dropped, for strangers repeat themselves. */
export const PENDING_REPLIES_MAX = 64

/** Bytes the game may add to a connection request (a name, a ticket) and to the welcome that answers it. */
export const USER_BYTES_MAX = 64
export const WELCOME_BYTES_MAX = 256

/** Different texts, byte strings and lists alive in one world: a peer that invents new ones forever is cut off here. */
export const VALUE_HEAP_ENTRIES_MAX = 65_536

/** Bytes of their encoded content: entries alone would allow a gigabyte of the longest values. */
export const VALUE_HEAP_BYTES_MAX: number = 2 ** 26

/** Objects alive in one world at once: 16 bits of index beside 16 of generation make an id of 32. */
export const OBJECTS_MAX = 65_536

/** Entities one game may declare: their number is a byte, and 255 means nobody. */
export const ENTITY_TYPES_MAX = 255

/** Ticks one call may run to catch up: a host that slept longer jumps, instead of freezing its players again. */
export const CATCH_UP_TICKS_MAX = 8

/** Inputs kept by number on either side: a second at 128 Hz, and a power of two. */
export const INPUT_WINDOW = 128

/** Inputs in one frame: a quarter of a second at 128 Hz; 5 bits count them. */
export const INPUTS_PER_FRAME_MAX = 32

/** Inputs that may wait on the authority before it passes some over. Even: it then keeps half. */
export const INPUT_WAITING_MAX = 8

/** Ticks a second: above this a tick is shorter than the timers of any platform can tell. */
export const TICK_RATE_MAX = 1000

/** Players of one match unless the host says otherwise. */
export const PLAYERS_DEFAULT = 32

/** Bits of the longest prefix code: what a symbol may cost at worst, and what one look ahead must hold. */
export const PREFIX_BITS_MAX = 12

/** Ticks a Timeline remembers: 16 seconds at 128 Hz. What needs longer memory is a recording. */
export const TIMELINE_TICKS_MAX = 2048

/** Rows of one entity in a Timeline: a reference has 24 bits for them. */
export const TIMELINE_ROWS_MAX: number = 2 ** 24
