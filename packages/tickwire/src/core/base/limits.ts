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

/** Columns of one entity: what a 16-bit column number can name, and far beyond any game seen. */
export const SCHEMA_COLUMNS_MAX = 4096

/** Bytes under one bit cursor: bit positions stay below 2^30, small integers in every engine (31-bit ones in Chrome). */
export const BIT_BUFFER_BYTES_MAX: number = 2 ** 27 - 1

/** Bits per component of a quantised rotation: below 3 there is nothing to say, and the codec's integers stay exact up to here. */
export const QUAT_BITS_MIN = 3
export const QUAT_BITS_MAX = 20
