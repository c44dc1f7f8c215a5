/** The "./node" entry point: serve a game, and join one. */

export { monotonicNow } from './clock.ts'
export { compileRows } from './compile-rows.ts'
export { connect, type ConnectOptions } from './connect.ts'
export { findMatch, findSeats } from './fleet-machine.ts'
export { fleet, type FleetPlace, type FleetSeat } from '../core/client/fleet-place.ts'
export type { SeatRequest } from '../core/client/fleet.ts'
export type { MatchRequest } from '../core/client/find-match.ts'
export type { FleetOptions } from './fleet-link.ts'
export type { MatchResult, ReportAnswer } from './fleet-results.ts'
export { resultBytes } from './fleet-results.ts'
export { isFleetRequest, signFleetRequest } from './fleet-signature.ts'
export { type JsonAnswer, type JsonRequest, requestJson } from './json-request.ts'
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
export { bestProvider } from './crypto.ts'
export { systemEntropy } from './entropy.ts'
export { createRecordingFile, openRecordingFile, type OpenRecording, type RecordingFile } from './recording-file.ts'
export type { Certificate } from './certificate.ts'
export { PortBundle, type BundledPort, type BundleMember } from './port-bundle.ts'
export type {
  DatagramSession, SessionListener, WebRtcListener, WebRtcListenOptions, WebRtcProvider, WebTransportListener,
  WebTransportListenOptions, WebTransportProvider,
} from './providers.ts'
export { serveRtype, ServingRtype, type ServeRtypeOptions } from './rtype-server.ts'
export { roomImageFromText, roomImageToText } from './rooms-keep.ts'
export type { RoomImage } from '../core/rooms/room-image.ts'
export {
  LOCKSTEP_PORT_DEFAULT, serveLockstep, type GroupRelay, type ServeLockstepOptions, type ServingLockstep,
} from './lockstep-server.ts'
export {
  openRelay, openStun, RELAY_PORT_DEFAULT, STUN_PORT_DEFAULT, type RelayServer, type RelayServerOptions,
  type RelayWebSocketOptions, type StunServer, type StunServerOptions,
} from './relay-server.ts'
export {
  openDirectSignaling, openRelaySignaling, type DirectSignalingOptions, type RelaySignaling,
  type RelaySignalingOptions, type SocketSignaling,
} from './signal-line.ts'
export { createHttpDoor, type HttpDoorOptions } from './http-door.ts'
export { isAllowedOrigin, isLoopbackHost, type AllowedOrigins } from './page-origin.ts'
export { StaticFiles } from './static-files.ts'
export { originOfRequest } from './request-origin.ts'
export { drainOnSignals, type Drainable } from './rooms-signals.ts'
export { TrustedProxies } from './trusted-proxies.ts'
export { serveRooms, ServingRooms, type ServeRoomsOptions } from './rooms.ts'
export type { RequestHandler } from './http-site.ts'
export { RoomServer } from './room-server.ts'
export type { RoomServerOptions } from './room-server-options.ts'
export type { PublishOptions, PublishTarget } from './publisher.ts'
export type { LearnOptions } from './learning.ts'
export { serve, Serving, type ServeOptions } from './serve.ts'
export { ServingWorkers } from './serving-workers.ts'
export type { ServerInfo } from './serve-routes.ts'
export type { TransportOptions, UdpServing, WebRtcServing, WebTransportServing } from './serve-transports.ts'
export { jsonLines, plainLog, type LogLevel, type ServeLog, type ServeLogEntry } from './status-log.ts'
export { parseWeather, type LoadWeather } from './load-weather.ts'
export type { OpsOptions } from './status-server.ts'
export { openUdp, resolveUdp, UdpPort, type UdpOptions } from './udp.ts'
export { openTokenJournal, type TokenJournalOptions } from './token-journal.ts'
export {
  listenWebSocket, openWebSocket, type WebSocketListenOptions, type WebSocketOpenOptions,
} from './websocket.ts'
