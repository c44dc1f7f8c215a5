/**
 * Every typed write and read, by name: what a game's own serializer calls. A namespace at the door.
 */

export { readBytes, writeBytes } from './blob.ts'
export { readBool, readByte, writeBool, writeByte } from './byte.ts'
export { readCompressedFloat, writeCompressedFloat } from './compressed-float.ts'
export {
  readDouble, readDoubleAny, readFloat, readFloatAny, writeDouble, writeDoubleAny, writeFloat, writeFloatAny,
} from './float.ts'
export { readQuaternion, writeQuaternion } from './quaternion.ts'
export { readEnum, readRangedInt, writeEnum, writeRangedInt } from './ranged-int.ts'
export { longRange, readRangedLong, writeRangedLong, type LongRange } from './ranged-long.ts'
export { readFixedString, readString, writeFixedString, writeString } from './text.ts'
export { readInt, readLong, readVarint, writeInt, writeLong, writeVarint } from './varint.ts'
export { readVector2, readVector3, readVector4, writeVector2, writeVector3, writeVector4 } from './vector.ts'
export { readU16, readU32, writeU16, writeU32 } from './word.ts'
