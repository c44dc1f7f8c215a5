/** The "./browser" entry point: join a game from a page. */

export { monotonicNow } from './clock.ts'
export { systemEntropy } from './entropy.ts'
export { withBanner, type BannerOptions } from './banner.ts'
export { connect, type ConnectOptions } from './connect.ts'
export { host, HostedMatch, type HostOptions, type MeshHostOptions } from './host.ts'
export type { HostedMesh } from '../core/client/mesh-code.ts'
export { watchRooms } from './watch-rooms.ts'
export { browse, isRequiredMod } from './browse.ts'
export type {
  BrowseFilter, BrowseOptions, BrowseResult, TrackerSource, TrackerState,
} from '../core/listing/browse-trackers.ts'
export type { Badge, BrowsedGame } from '../core/listing/merge-games.ts'
export {
  missingMods, type GameListing, type ListingHost, type ListingStatus, type RequiredMod,
} from '../core/listing/listing.ts'
export type { ForeignListing } from '../core/listing/openra-list.ts'
export { ConnectError, type CodeProblem, type ConnectCode } from '../core/client/connect-error.ts'
export { Room, type Play, type RoomTools } from '../core/client/room.ts'
export type { PathName, TransportName } from '../core/client/client-link.ts'
export type { Rung } from './offers.ts'
export { findMatch, findSeats, openWebRtc, openWebTransport } from './later.ts'
export { fleet, type FleetPlace, type FleetSeat } from '../core/client/fleet-place.ts'
export type { SeatRequest } from '../core/client/fleet.ts'
export type { MatchRequest } from '../core/client/find-match.ts'
export { openWebSocket } from './websocket.ts'

// For cosmetic effects only: simulation code cannot reach it, so it cannot cause a desync.
export { CosmeticPrng } from '../core/base/cosmetic-prng.ts'
