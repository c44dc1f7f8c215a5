/**
 * The "./nat" door: paths between players behind routers, without sockets and clocks. STUN, the packet relay, both
 * sides of its protocol, the race for a direct path, and signalling.
 */

export { announced, checkCandidates, type Candidate, type PathMode } from '../core/nat/candidates.ts'
export { LineSignaling, type LineSignalingConfig } from '../core/nat/line-signaling.ts'
export { MemorySignaling } from '../core/nat/memory-signaling.ts'
export { PacketRelay } from '../core/nat/packet-relay.ts'
export { PathRace, type PathRaceConfig, type PathReason, type PathState } from '../core/nat/path-race.ts'
export { PeerLink, PeerPort, type PathKind, type PeerIntroduction } from '../core/nat/peer-port.ts'
export { RelayClient, RelayPeer, type RelayClientConfig } from '../core/nat/relay-client.ts'
export type { PacketRelayConfig, RelayCounts, RelayLimits } from '../core/nat/relay-options.ts'
export { issueRelayToken, type RelayGrant, type RelayQuota } from '../core/nat/relay-token.ts'
export type { RelayError } from '../core/nat/relay-wire.ts'
export { decodeSignal, type Signal, type Signaling, type SignalOffer } from '../core/nat/signaling.ts'
export { readBindingResponse, writeBindingRequest } from '../core/nat/stun.ts'
export { turnCredentials } from '../core/nat/turn-credentials.ts'
