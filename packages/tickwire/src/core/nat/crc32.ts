/** CRC-32 (ISO-HDLC, as in Ethernet and zip): the checksum in the FINGERPRINT of a STUN message. */

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let word = index
  for (let bit = 0; bit < 8; bit++) word = (word & 1) === 0 ? word >>> 1 : (word >>> 1) ^ 0xedb8_8320
  return word
})

/** The checksum of `bytes[start, end)`. */
export function crc32(bytes: Uint8Array, start: number, end: number): number {
  let sum = 0xffff_ffff
  for (let at = start; at < end; at++) sum = (sum >>> 8) ^ TABLE[(sum ^ bytes[at]) & 0xff]
  return (sum ^ 0xffff_ffff) >>> 0
}
