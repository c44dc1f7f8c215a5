/**
 * The "." door, for game authors: define a game here, serve it with `tickwire/node`, join it with `tickwire/browser`,
 * and test it with `tickwire/testing`. For a program with its own loop or sockets there is `tickwire/engine`.
 *
 * At most 120 names, each used by a page of docs/guide.
 */

// Errors, and the units of ids.
export { ConfigError } from './base/assert.ts'
export type { CodeFault } from './base/user-code.ts'
export type { ObjectId, PeerId, Tick } from './base/time.ts'

// Exact on every engine: `step` uses these where `Math` may differ. `import { math } from 'tickwire'`, `math.sin(x)`.
export * as math from './base/math.ts'
export * as vector from './base/vector.ts'
export * as quaternion from './base/quaternion.ts'
export * as q32 from './base/q32.ts'

// Fields of entities, inputs, messages and calls.
export {
  angle, bool, bytes, deltaStruct, f32, f32Any, f64, f64Any, fixed, fixedText, group, i16, i32, i32Word, i64, i64Word,
  i8, int, list, long, manual, oneOf, quat, ref, struct, text, u16, u32, u8, vec2, vec3, vec4,
} from './schema/field-kinds.ts'
export type { Field, ManualCodec, Shape } from './schema/field.ts'
export type { InitOf, Vec2, Vec3, Vec4, ViewOf } from './schema/value-types.ts'
export { BitBuffer } from './bits/bit-buffer.ts'
export { floatQuant } from './bits/quantize.ts'

// Definitions, and the cost of them.
export { entity, message, Entity, Message, type ObjectAuthority, type Writable } from './schema/definition.ts'
export { rpc } from './rpc/rpc.ts'
export type { RpcResult } from './rpc/pending-calls.ts'
export type { RpcContext } from './rpc/rpc-handlers.ts'
export { explain } from './schema/explain.ts'
export { lintSchema } from './schema/lint.ts'

// Interest: which clients know an object.
export { always, anyOf, near, owner, team, where, type InterestRule, type Viewer } from './schema/interest.ts'

// The game.
export { defineGame, type Game, type GameDefinition, type Inputs, type Peer } from './game/define-game.ts'
export { profiles, type Profile } from './game/profiles.ts'
export type { NetSettings, Predict } from './game/settings.ts'
export { entropy, packed, type Priors, type SnapshotCodec } from './codec/snapshot-codec.ts'
export { sharedAuthority } from './game/client-authority.ts'

// The world inside `step`, the past of it for lag compensation, and the view that a page draws.
export { World } from './world/world.ts'
export type { ObjectOf, ObjectView } from './world/handle.ts'
export type { External } from './world/external.ts'
export { box, capsule, sphere } from './rewind/hitbox.ts'
export type { Hitboxes } from './rewind/hitbox-shape.ts'
export type { Cast, Hit, PastView } from './world/past-view.ts'
export { View } from './game/view.ts'
export type { CloseReason } from './connection/close-reason.ts'

// Traces: what `connect` and `serve` need of a library for them.
export type { SpanFacts, Tracer, TraceSpan } from './base/tracing.ts'

// Rooms: a server with many matches.
export type { JoinRequest } from './rooms/join-body.ts'
export type { Asking, Member } from './rooms/room-rules.ts'
export type { RoomListing } from './rooms/hosted-room.ts'
export type { RoomType } from './game/room-type.ts'
export type { StepWarning } from './game/step-checks.ts'
export { Match } from './game/match.ts'

// Recordings: write the last half minute, read and show any.
export { Recorder } from './replay/recorder.ts'
export { RecordingRing } from './replay/recording-ring.ts'
export { sourceOf } from './replay/byte-source.ts'
export { openRecording } from './replay/recording.ts'
export { Playback } from './replay/playback.ts'
export { Theatre } from './replay/theatre.ts'
