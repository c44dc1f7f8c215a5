/** The "./node" door: serve a game to everyone. */

export { monotonicNow } from './clock.ts'
export { bestProvider } from './crypto.ts'
export { systemEntropy } from './entropy.ts'
export { createRecordingFile, openRecordingFile, type OpenRecording, type RecordingFile } from './recording-file.ts'
export { serve, Serving, type ServeOptions } from './serve.ts'
export { openUdp, resolveUdp, UdpPort, type UdpOptions } from './udp.ts'
export { openTokenJournal, type TokenJournalOptions } from './token-journal.ts'
export { listenWebSocket, openWebSocket, type WebSocketListenOptions } from './websocket.ts'
