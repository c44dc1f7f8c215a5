/** The "./browser" door: join a game from a page. */

export { monotonicNow } from './clock.ts'
export { systemEntropy } from './entropy.ts'
export { connect, type ConnectOptions } from './connect.ts'
export { ConnectError } from './connect-error.ts'
export { Room, type Play, type RoomTools } from './room.ts'
export { onRoomOpened } from './open-rooms.ts'
export type { Rung } from './offers.ts'
export { openWebRtc } from './webrtc.ts'
export { openWebSocket } from './websocket.ts'
export { openWebTransport } from './webtransport.ts'

// For sparks and shakes only: simulation code cannot reach it, so that it cannot desync by it.
export { CosmeticPrng } from '../core/base/cosmetic-prng.ts'
