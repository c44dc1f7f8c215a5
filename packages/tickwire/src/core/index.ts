/**
 * The "." door: the names a game needs. Outside in: define a game here, serve it with `tickwire/node`, join it with
 * `tickwire/browser`; or make hosts and drive them with your own loop; or an endpoint, with your own everything.
 */

export { ConfigError, InvariantError } from './base/assert.ts'
export type { Entropy } from './base/entropy.ts'
export type { Millis, ObjectId, PeerId, Tick } from './base/time.ts'

// Exact on every engine: `step` uses these where `Math` may differ. `import { math } from 'tickwire'`, `math.sin(x)`.
export * as math from './base/math.ts'
export * as vector from './base/vector.ts'
export * as quaternion from './base/quaternion.ts'
export * as q32 from './base/q32.ts'
export { hash64, hashHex } from './base/hash.ts'
export { HashStream } from './base/hash-stream.ts'

export * as bits from './bits/bits.ts'
export { BitBuffer } from './bits/bit-buffer.ts'
export { BitReader } from './bits/bit-reader.ts'
export { BitWriter } from './bits/bit-writer.ts'
export { floatQuant, type FloatQuant } from './bits/quantize.ts'

export {
  angle, bool, bytes, deltaStruct, f32, f32Any, f64, f64Any, fixed, fixedText, group, i16, i32, i32Word, i64, i64Word, i8,
  int, list, long, manual, oneOf, quat, ref, struct, text, u16, u32, u8, vec2, vec3, vec4,
} from './schema/field-kinds.ts'
export type { Bounds, Field, ManualCodec, Shape } from './schema/field.ts'
export {
  entity, message, Entity, Message,
  type EntityOptions, type Init, type MessageDelivery, type MessageOptions, type Viewed, type Writable,
} from './schema/definition.ts'
export { always, anyOf, near, owner, team, where, type InterestRule, type NearOptions, type Seen, type Sight, type Viewer } from './schema/interest.ts'
export { explain, type Cost, type Explanation } from './schema/explain.ts'
export { lintSchema, type SchemaUse } from './schema/lint.ts'
export type { Schema } from './schema/schema.ts'
export type { InitOf, Vec2, Vec3, Vec4, ViewOf } from './schema/value-types.ts'

export type { ObjectIdentity, ObjectOf, ObjectView } from './world/handle.ts'
export { World, type External, type WorldOptions } from './world/world.ts'
export { locateDifference, type Difference, type Hashed, type Located } from './world/locate-difference.ts'
export { SaveSlots } from './world/save-slots.ts'
export { flatHash, StateHash } from './world/state-hash.ts'
export { Timeline, windowTicks } from './world/timeline.ts'

export { Interpolator, type InterpolatorOptions } from './interpolate/interpolator.ts'
export { ErrorSmoother, type SmoothingOptions } from './interpolate/error-smoother.ts'
export type { ModeName, PoseOptions, ToldTicks } from './interpolate/pose.ts'
export { RenderClock, type RenderClockOptions } from './interpolate/render-clock.ts'
export { box, capsule, sphere, type Hitbox, type Hitboxes, type HitboxPlace } from './rewind/hitbox.ts'
export { Past } from './rewind/past.ts'
export { Rewinder, type RewindOptions } from './rewind/rewinder.ts'
export { ToldRing } from './rewind/told-ring.ts'
export type { Aim, Cast, Hit, PastView, Rewinding } from './world/past-view.ts'

export { ClientInterest } from './replication/interest/client-interest.ts'
export { Interest, type InterestOptions } from './replication/interest/interest.ts'
export type { ViewpointList } from './replication/interest/viewpoints.ts'
export type { Relevance, TeamOf } from './replication/relevance.ts'

export {
  createTokenCheck, issueToken, parseToken, verifyToken,
  type ConnectToken, type TokenCheck, type TokenGrant, type TokenRefusal,
} from './crypto/connect-token.ts'
export { SUITE, type CryptoProvider, type SuiteId } from './crypto/provider.ts'
export { pureProvider } from './crypto/pure-provider.ts'
export { unsealedProvider } from './crypto/unsealed-provider.ts'
export { SpentTokens, type SpendVerdict, type TokenJournal } from './crypto/spent-tokens.ts'
export { bytesToText as tokenToText, keyToText, textToBytes as textToToken, textToKey, type KeyKind } from './crypto/token-text.ts'

export type { Channel, ChannelPromise, SendResult } from './channel/channel.ts'
export { ChannelSet, type ChannelSpec } from './channel/channel-set.ts'
export { LANES, type Lane } from './channel/lane.ts'
export { PolicyMap, StaleFilter, type DeliveryPolicy } from './channel/policy.ts'
export type { CongestionController, RateBounds } from './delivery/congestion/controller.ts'
export { DelayBasedController } from './delivery/congestion/delay-based.ts'
export { FixedController } from './delivery/congestion/fixed.ts'
export { GoodBadController } from './delivery/congestion/good-bad.ts'
export { FragmentPool, FragmentQuota } from './delivery/fragment-pool.ts'
export { ReliableOrderedChannel } from './channel/reliable-ordered.ts'
export type { CloseReason } from './connection/close-reason.ts'
export type { ConnectionSecurity } from './connection/connection-peer.ts'
export { Connection } from './connection/connection.ts'
export type { Transmit } from './connection/transmit.ts'
export { createPortStats, type DatagramPort, type DatagramPortStats } from './endpoint/datagram-port.ts'
export { drain } from './endpoint/drain.ts'
export type { ConnectRequest, EndpointConfig } from './endpoint/endpoint-config.ts'
export { createEndpoint, Endpoint, type ConnectPass, type EndpointEvent } from './endpoint/endpoint.ts'
export type { EndpointSecurity, TokenPolicy } from './endpoint/endpoint-security.ts'
export type { OriginLimits } from './endpoint/origin-limits.ts'
export type { FrameSink, FrameSource, FrameVerdict } from './packet/frame-source.ts'

export { rpc, type Rpc, type RpcDelivery, type RpcOptions, type RpcTarget } from './rpc/rpc.ts'
export type { RpcFailure, RpcResult } from './rpc/pending-calls.ts'
export type { RpcContext, RpcHandler } from './rpc/rpc-handlers.ts'
export type { CallOptions, RequestOptions } from './game/call-desk.ts'
export { defineGame, type Game, type GameDefinition, type Inputs, type Peer, type Said } from './game/define-game.ts'
export { profiles, type Profile } from './game/profiles.ts'
export { NET_SETTINGS, type NetSettings, type Predict } from './game/settings.ts'
export { ROLES, type RoleContext, type RoleName } from './game/role.ts'
export { ClockSync } from './time/clock-sync.ts'
export { describeFault, type SyncFault } from './predict/sync-test.ts'
export { createClientHost, ClientHost, type ClientHostOptions } from './game/client-host.ts'
export type { HostRecordOptions } from './game/host-watch.ts'
export { createServerHost, ServerHost, type ServerHostOptions } from './game/server-host.ts'
export { View } from './game/view.ts'

export { BitAccount, type BandwidthReport, type BitsByReason, type Reason } from './replication/bit-account.ts'
export { recentFieldBits, type FieldBits } from './replication/bit-account-fields.ts'
export { sourceOf, type ByteSource } from './replay/byte-source.ts'
export { measureBandwidth, type BandwidthOptions, type BandwidthTable } from './replay/bandwidth-table.ts'
export { readGameText, type GameText } from './replay/game-text.ts'
export { CHUNK as RECORDING_CHUNK, type ChunkEntry } from './replay/chunk.ts'
export { InputsReader, type HeldInput } from './replay/inputs-track.ts'
export { noteText, readNotes, type NoteKind, type RecordedNote } from './replay/notes-track.ts'
export { readPackets, type PacketWay, type RecordedPacket } from './replay/packets-track.ts'
export { Playback, type Played, type RecordedGame } from './replay/playback.ts'
export { Recorder, type RecordableGame, type RecorderOptions } from './replay/recorder.ts'
export type { RecordedFields, RecordingHead } from './replay/recording-head.ts'
export { MemorySink } from './replay/recording-memory.ts'
export { RecordingRing, type RecordingRingOptions } from './replay/recording-ring.ts'
export type { RecordingSink } from './replay/recording-writer.ts'
export { Theatre } from './replay/theatre.ts'
export { openRecording, Recording, type ChunkList, type RecordingEnd, type RecordingRefusal } from './replay/recording.ts'
