/**
 * The limits of NAT traversal and of a packet relay, each with its reason. `limits.ts` re-exports them.
 */

/** Attributes of one STUN message: a Binding request has at most a few, a TURN request nine. */
export const STUN_ATTRIBUTES_MAX = 16

/**
 * STUN requests that are answered without proof of the address: for one origin, and in all, per second. Their
 * answers are up to twice as long as the question, so this bounds what a forged flood can reflect.
 */
export const STUN_PER_ORIGIN_PER_SECOND = 20
export const STUN_PER_SECOND = 5000

/** The same for requests to the relay, whose answers are never longer than the question. */
export const RELAY_REQUESTS_PER_ORIGIN_PER_SECOND = 40
export const RELAY_REQUESTS_PER_SECOND = 10_000

/** Signatures of relay tokens that are checked for one origin per second: each costs 0.1 to 8 ms. */
export const RELAY_TOKENS_PER_ORIGIN_PER_SECOND = 10

/** Allocations of one relay, and of one origin: a household of eight, or four players with a standby each. */
export const RELAY_ALLOCATIONS_MAX = 4096
export const RELAY_ALLOCATIONS_PER_ORIGIN = 8

/** Allocations of one session: the players of a match. */
export const RELAY_SESSION_MEMBERS_MAX = 64

/** An allocation that is not refreshed for this long is freed. Peers refresh every 10 s, so two may be lost. */
export const RELAY_LIFE_MS = 30_000
export const RELAY_REFRESH_MS = 10_000

/** How often a relay looks for expired allocations. */
export const RELAY_SWEEP_MS = 1000

/** Rate at which one allocation may send: more than a player needs, unless its token allows less. */
export const RELAY_KBITS_PER_SECOND = 256
export const RELAY_PACKETS_PER_SECOND = 400
export const RELAY_MEBIBYTES = 1024
export const RELAY_MINUTES = 240

/** How much of the rate may be sent at once: the packets that an outage held back. */
export const RELAY_BURST_MS = 1000

/** Candidates that one peer offers, and those that are learnt from probes of the other peer. */
export const CANDIDATES_MAX = 8
export const CANDIDATES_LEARNT_MAX = 8

/** How often a candidate is probed during a race, how long a race lasts, and how often it is repeated while relayed. */
export const PROBE_MS = 50
export const PROBE_RACE_MS = 5000
export const PROBE_AGAIN_MS = 60_000

/** How often a path that carries the connection is checked, and the silence after which it has failed. */
export const PATH_WATCH_MS = 200
export const PATH_SILENCE_MS = 1000

/** How often a request to a relay is repeated while it is not answered. */
export const RELAY_RETRY_MS = 250

/** When a peer asks a relay again that was full or about to close: a rolling restart takes seconds. */
export const RELAY_AGAIN_MS = 5000

/** Characters of one signalling message: an offer with a WebRTC description has some 2,000. */
export const SIGNAL_CHARS_MAX = 16_384

/** Relays that a rendezvous offers to a member: one in use, a standby, and two to replace them. */
export const RELAYS_OFFERED_MAX = 4

/** Guests whose offers a host remembers: its players, and guests that have left. */
export const GUEST_OFFERS_MAX = 256

/** How often a guest repeats its offer, and how long it waits for an answer. */
export const OFFER_AGAIN_MS = 1000
export const ANSWER_MS = 8000

/** Signalling messages that wait to be polled: those of a second. More are dropped: offers are repeated. */
export const SIGNALS_WAITING_MAX = 64

/** Bytes of a member's name in signalling: it travels in the user bytes of a handshake, which are 64. */
export const SIGNAL_NAME_BYTES_MAX = 64

/** Virtual ports of TURN clients in use: half of the even ones, so that a random free one is found soon. */
export const TURN_PORTS_MAX = 16_000

/** Allocations of one token by a browser: it makes one for each network, and new ones when its network changes. */
export const TURN_ALLOCATIONS_PER_TOKEN = 4

/** How long a TURN allocation lives without a Refresh: the least that RFC 8656 has. Clients refresh a minute before. */
export const TURN_LIFE_MS = 600_000

/** A nonce of TURN is valid for this long, or twice that. A stale one costs its client a round trip. */
export const TURN_NONCE_MS = 60_000
