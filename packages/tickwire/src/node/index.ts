/** The "./node" door: serve a game to everyone. */

export { monotonicNow } from './clock.ts'
export { compileRows } from './compile-rows.ts'
export { bestProvider } from './crypto.ts'
export { systemEntropy } from './entropy.ts'
export { createRecordingFile, openRecordingFile, type OpenRecording, type RecordingFile } from './recording-file.ts'
export { makeCertificate, type Certificate, type HashedCertificate } from './certificate.ts'
export { PortBundle, type BundledPort, type BundleMember } from './port-bundle.ts'
export { findWebRtc, findWebTransport, type ProviderFound } from './providers-search.ts'
export type {
  DatagramSession, SessionListener, WebRtcListener, WebRtcListenOptions, WebRtcProvider, WebTransportListener, WebTransportListenOptions,
  WebTransportProvider,
} from './providers.ts'
export { serveRooms, ServingRooms, type ServeRoomsOptions } from './rooms.ts'
export { House, type HouseOptions } from './rooms-house.ts'
export type { LearnOptions } from './learning.ts'
export { serve, Serving, type ServedMatch, type ServeOptions } from './serve.ts'
export type { ServerInfo } from './serve-routes.ts'
export type { TransportOptions, UdpServing, WebRtcServing, WebTransportServing } from './serve-transports.ts'
export { jsonLines, plainLog, type LogLevel, type ServeLog, type ServeLogEntry } from './status-log.ts'
export type { LoadWeather } from './load-weather.ts'
export type { OpsOptions } from './status-server.ts'
export { SessionPort } from './session-port.ts'
export { openUdp, resolveUdp, UdpPort, type UdpOptions } from './udp.ts'
export { openTokenJournal, type TokenJournalOptions } from './token-journal.ts'
export { listenWebSocket, openWebSocket, type WebSocketListenOptions } from './websocket.ts'
