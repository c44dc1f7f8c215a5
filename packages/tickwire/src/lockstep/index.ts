/** The "./lockstep" entry point: games in which every peer steps the same world with the same orders. */

export type { Lane } from '../core/channel/lanes.ts'
export type { DesyncReport, DesyncVerdict, DivergedReport, PlayerReport } from '../core/order/desync-report.ts'
export type { DesyncFinding, NamedDifference } from '../core/lockstep/desync/finding.ts'
export { DebugLog, type DebugOptions } from '../core/lockstep/desync/debug-log.ts'
export { GameReferee } from '../core/lockstep/desync/game-referee.ts'
export type { TraceFinding } from '../core/lockstep/desync/search.ts'
export type { TraceKind, TraceRecord } from '../core/lockstep/desync/write-trace.ts'
export type { CodeSite } from '../core/lockstep/desync/code-site.ts'
export type { DesyncRules } from '../core/order-relay/desync-judge.ts'
export { ids } from '../core/order/ids.ts'
export { decodeCard, encodeCard, type LockstepCard } from '../core/order/lockstep-card.ts'
export { nativeCodec, type OrderCodec, type TimedOrder } from '../core/order/order-codec.ts'
export type { EndReason, TickEvent, TickEventName } from '../core/order/tick-event.ts'
export { TickLog } from '../core/order/tick-log.ts'
export type { TimingFeedback } from '../core/order/ticks-frame.ts'
export {
  defineLockstep, type Derived, type LockstepDefinition, type LockstepGame, type TickOrders,
} from '../core/lockstep/define-lockstep.ts'
export {
  BridgeFeed, type BridgeAbilities, type BridgeDiagnostics, type OrderSupport, type ProtocolBridge,
} from '../core/lockstep/bridge-feed.ts'
export { LocalFeed, type LocalFeedOptions } from '../core/lockstep/local-feed.ts'
export { LockstepRunner, type RunnerOptions } from '../core/lockstep/lockstep-runner.ts'
export {
  Order, order, type AnyOrder, type CheckedWorld, type GivenOrder, type OrderOptions,
} from '../core/lockstep/order.ts'
export type { OrderListener, OrderState } from '../core/lockstep/own-orders.ts'
export { readReplay } from '../core/lockstep/read-replay.ts'
export type { ReplayDeck } from '../core/lockstep/replay-deck.ts'
export { playedMatch, ReplayFeed, type PlayedMatch } from '../core/lockstep/replay-feed.ts'
export type { Roster } from '../core/lockstep/roster.ts'
export { seedSharesOf, type SharedSeed } from '../core/lockstep/seed-shares.ts'
export type { FeedDiagnostics, FeedStatus, SubmitResult, TickFeed } from '../core/lockstep/tick-feed.ts'
export type {
  HostedRelay, HostingOptions, PortSource, RelayWorker,
} from '../core/client/hosted-relay.ts'
export { Hosting, hosting } from '../core/client/hosting.ts'
export type { MessagePortLike } from '../core/endpoint/message-ports.ts'
export { local, relay, replay } from '../core/client/lockstep-places.ts'
export { mesh, type MeshOptions, type MeshRules } from '../core/client/mesh-place.ts'
export type { MeshSource } from '../core/client/mesh-code.ts'
export type { MeshParty, MeshPaths } from '../core/client/mesh-gathering.ts'
export {
  LockstepRoom, type LockstepDrive, type LockstepMachine, type LockstepOptions, type LockstepPlace, type LockstepPlay,
  type WireHooks,
} from '../core/client/lockstep-room.ts'
export type { MeshTimes } from '../core/lockstep/mesh-watch.ts'
export type { LaneListener } from '../core/game/lockstep-lanes.ts'
export { served, type OrderRoom, type ServedGame, type ServedOptions } from '../core/game/served-lockstep.ts'
export { LockstepClient, type LockstepClientOptions, type LockstepStatus } from '../core/game/lockstep-client.ts'
export type { OrderRelay } from '../core/order-relay/order-relay.ts'
export type { RelayCounts } from '../core/order-relay/relay-counts.ts'
export type { FilterContext, RelayFilter, RelayOrder } from '../core/order-relay/relay-filter.ts'
export { RANKED_RELAY, type RelayOptions } from '../core/order-relay/relay-options.ts'
export type { RelayNotice } from '../core/order-relay/relay-watch.ts'
export { createRelayHost } from '../core/relaying/relay-host.ts'
export { RANKED_ROOM, type Referee, type RelayMatch, type RelayRoomType } from '../core/relaying/relay-match.ts'
export type { RecordedMatch, RelayRecorder } from '../core/relaying/match-keeping.ts'
export type { SealSigner } from '../core/order/tick-sealer.ts'
