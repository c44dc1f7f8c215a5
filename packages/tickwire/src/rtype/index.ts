/**
 * The "./rtype" door: the R-Type protocol, byte for byte (docs/wire/RTYPE.md), for programs that communicate with
 * clients and servers of that protocol.
 */

export {
  decodeRtype,
  encodeRtype,
  rtypeCapacity,
  rtypeNameOf,
  type RtypeCodecOptions,
  type RtypeMessage,
} from '../core/rtype/codec.ts'
export {
  RTYPE_COMPONENTS,
} from '../core/rtype/components.ts'
export {
  RtypeEnvelope,
  type RtypeCompression,
  type RtypeEnvelopeOptions,
  type RtypeSeal,
} from '../core/rtype/envelope.ts'
export {
  RTYPE_FLAG,
  rtypeCategory,
  type RtypeCategory,
  type RtypeFault,
  type RtypeHeader,
} from '../core/rtype/header.ts'
export {
  RTYPE_PACKETS,
  type RtypePacket,
  type RtypePacketName,
  type RtypePacketOf,
} from '../core/rtype/packet-table.ts'
export {
  fromRotation,
  fromThousandths,
  RTYPE,
  RTYPE_VERSION,
  toEffectScale,
  toRotation,
  toThousandths,
} from '../core/rtype/values.ts'
export { RtypeClient, type RtypeClientOptions, type RtypeClientState } from '../core/rtype-session/client.ts'
export { RtypeMotion, type RtypeMotionOptions, type RtypePlace } from '../core/rtype-session/motion.ts'
export { RtypeServer } from '../core/rtype-session/server.ts'
export type {
  RtypePeer,
  RtypeServerDrop,
  RtypeServerEvent,
  RtypeServerOptions,
} from '../core/rtype-session/server-types.ts'
export {
  RtypeWorldStream,
  type RtypeEntity,
  type RtypeSnapshotName,
  type RtypeWorldOptions,
} from '../core/rtype-session/world-stream.ts'
