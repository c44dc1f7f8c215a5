/**
 * The "./engine" door, for programs with their own loop, their own sockets or their own tools: the layers below a game,
 * from bytes to hosts. Names that a game author needs are in ".".
 */

// Units, chance, hashes and bits.
export type { FaultListener } from '../core/base/user-code.ts'
export type { Entropy } from '../core/base/entropy.ts'
export type { Millis } from '../core/base/time.ts'
export { hashHex } from '../core/base/hash.ts'
export { HashStream } from '../core/base/hash-stream.ts'
export { BitReader } from '../core/bits/bit-reader.ts'
export { BitWriter } from '../core/bits/bit-writer.ts'
export type { FloatQuant } from '../core/bits/quantize.ts'

// Schemas.
export type { EntityOptions, Init, MessageDelivery, MessageOptions } from '../core/schema/definition.ts'
export type { NearOptions, Seen, Sight } from '../core/schema/interest.ts'
export type { Cost, Explanation } from '../core/schema/explain.ts'
export type { SchemaUse } from '../core/schema/lint.ts'
export type { Schema } from '../core/schema/schema.ts'
export type { ValueCounts } from '../core/schema/value-codec.ts'

// The world: images, differences, hashes and the rows of past ticks.
export type { ObjectIdentity } from '../core/world/handle.ts'
export type { CompleteExternal } from '../core/world/external.ts'
export type { WorldOptions } from '../core/world/world.ts'
export { encodeWorld, restoreWorld, type ImageVerdict } from '../core/world/world-image.ts'
export { locateDifference, type Difference, type Hashed, type Located } from '../core/world/locate-difference.ts'
export { SaveSlots } from '../core/world/save-slots.ts'
export { flatHash, StateHash } from '../core/world/state-hash.ts'
export { windowTicks } from '../core/world/timeline-window.ts'
export { Timeline } from '../core/world/timeline.ts'

// Interpolation and lag compensation.
export { Interpolator, type InterpolatorOptions } from '../core/interpolate/interpolator.ts'
export { ErrorSmoother, type SmoothingOptions } from '../core/interpolate/error-smoother.ts'
export type { ModeName, PoseOptions } from '../core/interpolate/pose.ts'
export { RenderClock, type RenderClockOptions } from '../core/interpolate/render-clock.ts'
export type { Hitbox, HitboxPlace } from '../core/rewind/hitbox-shape.ts'
export type { Aim, Rewinding } from '../core/world/past-view.ts'

// Interest.
export { ClientInterest } from '../core/replication/interest/client-interest.ts'
export { Interest, type InterestOptions } from '../core/replication/interest/interest.ts'
export type { ViewpointList } from '../core/replication/interest/viewpoints.ts'
export type { Relevance, TeamOf } from '../core/replication/relevance.ts'

// Cryptography and connect tokens.
export {
  createTokenCheck, issuerKeyId, issueToken, verifyToken, type ConnectToken, type TokenCheck, type TokenGrant,
  type TokenPurpose, type TokenRefusal,
} from '../core/crypto/connect-token.ts'
export { SUITE, type CryptoProvider, type SuiteId } from '../core/crypto/provider.ts'
export { pureProvider } from '../core/crypto/pure-provider.ts'
export { unsealedProvider } from '../core/crypto/unsealed-provider.ts'
export { SpentTokens, type SpendVerdict, type TokenJournal } from '../core/crypto/spent-tokens.ts'
export {
  bytesToText as tokenToText, textToBytes as textToToken, textToKey,
} from '../core/crypto/token-text.ts'

// Listings: games in public lists.
export { listingKey, readListing, type ListingFacts } from '../core/listing/listing.ts'
export { openListing } from '../core/listing/listing-signature.ts'
export { mergeGames, type GameSource } from '../core/listing/merge-games.ts'
export { checkTrackers, isWanted } from '../core/listing/browse-trackers.ts'
export { LISTING_AGE_MS_MAX } from '../core/base/limits-listing.ts'

// Channels and congestion.
export type { Channel, ChannelPromise, SendResult } from '../core/channel/channel.ts'
export { ChannelSet, type ChannelSpec } from '../core/channel/channel-set.ts'
export { SEND_QUEUES, type SendQueue } from '../core/channel/send-queue.ts'
export { PolicyMap, type DeliveryPolicy } from '../core/channel/policy.ts'
export { ReliableOrderedChannel } from '../core/channel/reliable-ordered.ts'
export type { CongestionController, RateBounds, RttSample } from '../core/delivery/congestion/controller.ts'
export { DelayBasedController } from '../core/delivery/congestion/delay-based.ts'
export { FixedController } from '../core/delivery/congestion/fixed.ts'
export { GoodBadController } from '../core/delivery/congestion/good-bad.ts'
export { FragmentPool, FragmentQuota } from '../core/delivery/fragment-pool.ts'

// Connections, endpoints and ports.
export type { ConnectionSecurity } from '../core/connection/connection-peer.ts'
export { Connection } from '../core/connection/connection.ts'
export type { Transmit } from '../core/connection/transmit.ts'
export { createPortStats, type DatagramPort, type DatagramPortStats } from '../core/endpoint/datagram-port.ts'
export { drain } from '../core/endpoint/drain.ts'
export type { ConnectRequest, EndpointConfig, Refusal, Verdict } from '../core/endpoint/endpoint-config.ts'
export { createEndpoint, Endpoint, type ConnectPass, type EndpointEvent } from '../core/endpoint/endpoint.ts'
export type { EndpointSecurity, TokenPolicy } from '../core/endpoint/endpoint-security.ts'
export type { OriginLimits } from '../core/endpoint/origin-limits.ts'
export type { FrameSink, FrameSource, FrameVerdict } from '../core/packet/frame-source.ts'

// Hosts: a match, a client and rooms, driven by a loop of your own.
export type { Rpc, RpcDelivery, RpcOptions, RpcTarget } from '../core/rpc/rpc.ts'
export type { RpcFailure } from '../core/rpc/pending-calls.ts'
export type { RpcHandler } from '../core/rpc/rpc-handlers.ts'
export type { CallOptions, RequestOptions } from '../core/game/call-desk.ts'
export type { Said } from '../core/game/define-game.ts'
export { ROLES, type RoleContext, type RoleName } from '../core/game/role.ts'
export type { SyncFault } from '../core/predict/sync-test.ts'
export { createClientHost, ClientHost } from '../core/game/client-host.ts'
export type { ClientHostOptions, ClientParts } from '../core/game/client-host-options.ts'
export { StepChecks } from '../core/game/step-checks.ts'
export {
  createMatchHost, createRoomHost, type MatchHost, type MatchHostOptions,
} from '../core/game/match-host.ts'
export type { HostRecordOptions } from '../core/game/host-watch.ts'
export type { MatchCounters } from '../core/game/match-counters.ts'
export type { MatchOptions } from '../core/game/match-options.ts'
export type { Transfer } from '../core/game/message-desk.ts'
export type { MatchInterest } from '../core/game/match-interest.ts'
export { DurationHistogram } from '../core/rooms/duration-histogram.ts'
export type { Metadata } from '../core/rooms/join-body.ts'
export type { RoomFilter } from '../core/rooms/room-directory.ts'
export { HostedRoom, type RoomIdentity, type RoomWiring } from '../core/rooms/hosted-room.ts'
export { RoomHost } from '../core/rooms/room-host.ts'
export type { NewRoomOptions, RoomCounts } from '../core/rooms/room-lifecycle.ts'
export type { RoomMatch } from '../core/rooms/room-match.ts'
export type { RoomRules } from '../core/rooms/room-rules.ts'
export type { RoomHostOptions, RoomHostParts } from '../core/rooms/room-host-options.ts'
export type { SeatWelcome } from '../core/rooms/welcome.ts'
export type { AuthorityListener } from '../core/game/client-authority.ts'
export type { AuthorityGrant, SharedAuthority } from '../core/game/shared-authority.ts'
export type { Retraining } from '../core/game/retraining.ts'
export type { SpectatorOptions, SpectatorRefusals, Spectators } from '../core/game/spectators.ts'
export type { WriteRefusals } from '../core/replication/authority/written-rows.ts'

// Watching a client: traces, dissected packets, inspection.
export { ClientTrace, type TraceEntry } from '../core/game/client-trace.ts'
export { replayTrace, type ReplayOptions } from '../core/game/trace-replay.ts'
export { ClientRecorder } from '../core/game/client-recorder.ts'
export { PacketDissector, type Dissection } from '../core/game/dissection/dissect-packet.ts'
export type { NamedBits } from '../core/game/dissection/bit-naming.ts'
export { WIRE_FIELDS, type WireField } from '../core/game/dissection/wire-fields.ts'
export {
  Inspection, type InspectedTick, type MistakeExplanation, type InspectionOptions, type PacketLine,
} from '../core/game/inspection/inspection.ts'
export type { Mistake } from '../core/game/mistake-text.ts'
export type { ClientObserver } from '../core/game/client-observers.ts'
export { ReceivedWorld } from '../core/game/received-world.ts'

// Bandwidth.
export type { BandwidthReport, BitsByReason, Reason } from '../core/bandwidth/bit-account.ts'
export { recentFieldBits, type FieldBits } from '../core/bandwidth/bit-account-fields.ts'
export { measureBandwidth, type BandwidthOptions, type BandwidthTable } from '../core/replay/bandwidth-table.ts'
export { trainRecording, type Training } from '../core/replay/train-recording.ts'

// The parts of a recording.
export type { ByteSource } from '../core/replay/byte-source.ts'
export { readGameText, type GameText } from '../core/replay/game-text.ts'
export { CHUNK as RECORDING_CHUNK, type ChunkEntry } from '../core/replay/chunk.ts'
export { InputsReader, type HeldInput } from '../core/replay/inputs-track.ts'
export { readNotes, type NoteKind, type RecordedNote } from '../core/replay/notes-track.ts'
export { readPackets, type PacketWay, type RecordedPacket } from '../core/replay/packets-track.ts'
export type { Played, RecordedGame } from '../core/replay/playback.ts'
export type { RecordableGame, RecorderOptions } from '../core/replay/recorder.ts'
export type { RecordedFields, RecordingCodec, RecordingHead } from '../core/replay/recording-head.ts'
export { MemorySink } from '../core/replay/recording-memory.ts'
export type { RecordingRingOptions } from '../core/replay/recording-ring.ts'
export type { RecordingSink } from '../core/replay/recording-writer.ts'
export { Recording, type ChunkList, type RecordingEnd, type RecordingRefusal } from '../core/replay/recording.ts'
