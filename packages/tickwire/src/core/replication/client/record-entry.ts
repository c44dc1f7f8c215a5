/**
 * The record of a packet in flight: its entries of snapshots (packet/packet-records.ts).
 */

/** The bits of the object index, or of the block. */
export const RECORD_INDEX = 0xffff
/** Above the object index: the object was sent as gone. */
export const RECORD_GONE = 0x1_0000
/** With this row the client also holds the row of one stride before. */
export const RECORD_PAIRED = 0x2_0000
/** Not an object but a block of 32: the packet has everything of it (bulk-path.ts). */
export const RECORD_BLOCK = 0x4_0000
