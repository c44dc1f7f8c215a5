/**
 * Every limit of the engine, each with its reason. No other file in core defines a bound that a peer can reach. This
 * file re-exports its parts: `limits-crypto.ts` has keys and tokens, `limits-doors.ts` a server's listeners,
 * `limits-fleet.ts` the rooms of a fleet, `limits-listing.ts` public lists of games, `limits-lockstep.ts` lockstep,
 * `limits-nat.ts` NAT traversal and relays, `limits-rtype.ts` the R-Type protocol, and `limits-state.ts` interpolation,
 * rewinding, replication and recording.
 *
 * A limit here is the most that an attacker, a bug or a network failure can cost.
 */

export * from './limits-crypto.ts'
export * from './limits-doors.ts'
export * from './limits-fleet.ts'
export * from './limits-listing.ts'
export * from './limits-lockstep.ts'
export * from './limits-nat.ts'
export * from './limits-rtype.ts'
export * from './limits-state.ts'

/**
 * Bytes of a datagram that cross any path unfragmented: IPv6 guarantees 1,280, less 40 + 8 for IPv6 and UDP headers,
 * less 32 for tunnels (PPPoE, VPN).
 */
export const DATAGRAM_BYTES_SAFE = 1200

/** Largest datagram of any transport: the payload of an Ethernet frame, so buffers fit one page pair. */
export const DATAGRAM_BYTES_MAX = 1500

/** Bits of one bit-field write or read: one machine word, so that the accumulator never needs two. */
export const BIT_FIELD_BITS_MAX = 32

/** Bytes of one text or bytes value, unless the field has a lower limit: a chat line or a name, never a document. */
export const VALUE_BYTES_MAX = 16_383

/** Items of one list field: more than that should be separate objects. */
export const LIST_ITEMS_MAX = 1024

/** Nesting depth of structs, lists and groups: bounds the recursion in decoders, whatever the input is. */
export const SCHEMA_DEPTH_MAX = 8

/** Int32 lanes of one object's row: 16 KiB per row, so that rings of rows fit in memory. Far beyond any known game. */
export const SCHEMA_LANES_MAX = 4096

/**
 * Bytes under one bit cursor: bit positions stay below 2^30, small integers in every engine (31-bit ones in Chrome).
 */
export const BIT_BUFFER_BYTES_MAX: number = 2 ** 27 - 1

/** Frame kinds of a connection: the range of the 4-bit kind field. Also the maximum number of sources of one packet. */
export const FRAME_KINDS_MAX = 16

/** Bytes of one frame's body: the range of its 14-bit length field. */
export const FRAME_BYTES_MAX = 16_383

/** Frames of one outgoing packet: a source that never returns false costs this much and does not hang the process. */
export const FRAMES_PER_PACKET_MAX = 64

/**
 * Replay window: packets behind the newest that can be recognised as replayed. 8 s at 128 Hz, 128 bytes a connection.
 */
export const REPLAY_WINDOW_PACKETS = 1024

/** Sent packets that may be undecided: 2 s at 128 Hz. Beyond that the oldest is declared lost. */
export const SENT_PACKETS_MAX = 256

/**
 * Packets of one connection in one flush: a source with much data must leave the rest for later, not flood a router.
 */
export const PACKETS_PER_FLUSH_MAX = 32

/** Messages of a reliable channel between the oldest unacknowledged and the newest sent. */
export const RELIABLE_WINDOW_MESSAGES = 256

/**
 * Bytes of one message: fits a safe datagram beside header (22), acks (13), frame heads (7) and the seal's tag (16).
 */
export const MESSAGE_BYTES_MAX = 1024

/** Bytes of messages that one channel holds in each direction: the most memory that a slow or hostile peer can pin. */
export const MESSAGE_STORE_BYTES_MAX = 65_536

/**
 * Events about objects that are not in a client's view yet: a quarter second of a busy match. The oldest is dropped.
 */
export const EVENTS_WAITING_MAX = 256

/** Connections that one endpoint accepts: their places, and those of as many guests, are 13 bits of a connection id. */
export const CONNECTIONS_MAX = 4096

/** Connections that one endpoint opens itself: they are found by a linear scan. */
export const OUTGOING_CONNECTIONS_MAX = 64

/** Replies to clients without a connection that wait for the next flush. More are dropped: clients repeat requests. */
export const PENDING_REPLIES_MAX = 64

/** Bytes that the game may add to a connection request (a name, a ticket) and to the welcome that answers it. */
export const USER_BYTES_MAX = 64
/** Join data in a Response: what is left of its 1,200 bytes without a token. With a token, at least 590 are left. */
export const JOIN_DATA_BYTES_MAX = 1024
export const WELCOME_BYTES_MAX = 256

/** Cipher suites one request may offer. */
export const OFFERED_SUITES_MAX = 8

/** Age of a challenge at which a client requests a new one while answering it: half of its shortest validity. */
export const CHALLENGE_FRESH_MS = 2000

/**
 * Challenge signatures that a client checks per request: forged ones cost a page 8 ms each, at most 160 ms a second.
 */
export const CHALLENGE_CHECKS_PER_REQUEST = 4

/** How long a silent guest is kept: 20 of its retries. At 60 % loss all of them fail once in 27,000 times. */
export const GUEST_MS = 5000

/**
 * Guests of an endpoint, beside its seats: the guests of 256 origins. The guest silent longest is replaced, so an
 * honest guest is replaced only by this many handshakes within its round trip, which no server could compute.
 */
export const GUESTS_MAX = 1024

/**
 * Clients that were promised a seat in a room and have not connected: all guests, and all that wait for `onAuth`. The
 * oldest is dropped.
 */
export const INVITATIONS_MAX: number = 2 * GUESTS_MAX

/**
 * Guests of one origin: a household that connects all at once, or attempts of one client whose port changed each time,
 * which look like several clients. A client that finds no room is not answered and repeats its response a quarter
 * second later; older attempts at its own address give way.
 */
export const GUESTS_PER_ORIGIN = 4

/** Bytes of the longest reply to a client without a connection: an Accepted with the longest welcome. */
export const REPLY_BYTES_MAX = 400

/** Origins whose rate is counted, in sets of 4; the least recently used is replaced. 25 KiB a table, nine tables. */
export const ORIGIN_SETS = 256
export const ORIGIN_WAYS = 4

/** For one origin: connections at the same time, handshakes and challenges per second. A household, not a crowd. */
export const CONNECTIONS_PER_ORIGIN = 5
export const HANDSHAKES_PER_ORIGIN_PER_SECOND = 10
export const CHALLENGES_PER_ORIGIN_PER_SECOND = 50

/**
 * IPv6: a /64 is one origin, because a household has at least that. A /56 and a /48 contain 256 and 65,536 of them, and
 * are just as often assigned to one customer. Each as a whole gets this many times the limits of one origin.
 */
export const IPV6_56_TIMES = 4
export const IPV6_48_TIMES = 16

/** Networks of trusted proxies: the list is searched for every socket. */
export const TRUSTED_PROXIES_MAX = 64

/** A PROXY protocol header: 52 bytes of addresses, and TLVs up to a kilobyte. A proxy sends it first, and at once. */
export const PROXY_HEADER_BYTES_MAX = 1024
export const PROXY_HEADER_MS = 5000

/** Requests answered per second, in total, before clients must ask twice: more than at any honest launch. */
export const CHALLENGES_PER_SECOND = 1000

/** When a second request counts as a repetition, in ms after the first: clients repeat it every 200 to 250 ms. */
export const KNOCK_MS_MIN = 100
export const KNOCK_MS_MAX = 2000

/**
 * Addresses remembered in a flood, in sets of 4: two thirds of a second of 50,000. 256 KiB, allocated at the first
 * flood.
 */
export const KNOCK_SETS = 8192
export const KNOCK_WAYS = 4

/**
 * Packets per second that a peer is expected to send, unless configured otherwise: the most that congestion controllers
 * allow by default. Packets above three times that rate are dropped: honest clocks and timers are not that wrong. Above
 * ten times the connection ends: each packet costs a decryption, and no honest peer comes near.
 */
export const PEER_PACKETS_PER_SECOND = 1000
export const INBOUND_DROP_TIMES = 3
export const INBOUND_END_TIMES = 10

/**
 * With a known tick rate, players are expected to send four packets per tick: inputs, an answer, voice, and some room
 * for large messages. And at least this many per second: voice is independent of ticks, and a map of a megabyte takes 4
 * s.
 */
export const PLAYER_PACKETS_PER_TICK = 4
export const PLAYER_PACKETS_PER_SECOND_MIN = 240

/** How much of that rate may arrive at once: the packets that an outage of a few seconds held back. */
export const INBOUND_BURST_MS = 1000

/**
 * Messages and calls per second that a player is expected to send: eight per tick, and at least this many per second.
 * Three times that is accepted, one second of it at once. Reliable messages beyond it wait in their channel, others are
 * dropped. Each costs about 2 microseconds to decode, so the full share costs a server 0.3 % of a core at 60 Hz. The
 * share at once is at least 768 messages: a stall of the server leaves at most one full window of 256 in each channel.
 */
export const PLAYER_MESSAGES_PER_TICK = 8
export const PLAYER_MESSAGES_PER_SECOND_MIN = 256

/** Resets that one endpoint sends per second, in total: a courtesy to clients that must not serve floods. */
export const RESETS_PER_SECOND = 100

/** A new address of a peer is checked at most this often, and given up when nothing arrives from it for this long. */
export const PATH_CHECK_MS = 250
export const PATH_CANDIDATE_MS = 3000

/** Bytes of the longest packet that checks a path: header 22, acks 13, frame 12, tag 16. */
export const PATH_CHECK_BYTES_MAX = 63

/** Distinct texts, byte strings and lists in one world: bounds a peer that keeps inventing new ones. */
export const VALUE_HEAP_ENTRIES_MAX = 65_536

/** Bytes of their encoded content: the limit of entries alone would allow a gigabyte of the longest values. */
export const VALUE_HEAP_BYTES_MAX: number = 2 ** 26

/**
 * Values of one player's inputs that wait for their ticks, for each text, bytes or list field, and bytes of all of
 * them. A window of inputs has at most 256 per field, in frames of at most a datagram each. Unused values are released
 * after at most twice that and one frame. So honest inputs always find room, and one player takes no room from others.
 */
export const INPUT_VALUES_PER_FIELD = 1024
export const INPUT_VALUE_BYTES_PER_PEER: number = 2 ** 20

/**
 * New texts, byte strings and lists that one player may write into shared objects within one window of remembered rows:
 * they are in the heap of the world. 32 players use less than its 65,536 entries in two windows. More are not
 * acknowledged.
 */
export const WRITTEN_VALUES_PER_WINDOW = 512

/** Values, and their bytes, in a heap before a collection runs: with fewer, a collection saves too little. */
export const VALUE_SWEEP_ENTRIES_MIN = 256
export const VALUE_SWEEP_BYTES_MIN = 65_536

/** Objects in one world at the same time: 16 bits of index and 16 bits of generation make a 32-bit id. */
export const OBJECTS_MAX = 65_536

/** Entities that one game may declare: their number is a byte, and 255 means none. */
export const ENTITY_TYPES_MAX = 255

/**
 * Ticks that one call may run to catch up: a host that slept longer skips ticks, instead of freezing its players again.
 */
export const CATCH_UP_TICKS_MAX = 8

/** Inputs kept by tick on either side: two seconds at 128 Hz, and a power of two. */
export const INPUT_WINDOW = 256

/**
 * Ticks ahead of the authority for which it accepts inputs: half a window, so that stored inputs are not overwritten.
 */
export const INPUT_AHEAD_MAX = 128

/** Inputs in one frame: a quarter of a second at 128 Hz; 5 bits count them. */
export const INPUTS_PER_FRAME_MAX = 32

/** Ticks per second: above this a tick is shorter than the timer resolution of any platform. */
export const TICK_RATE_MAX = 1000

/** Default number of players of one match. */
export const PLAYERS_DEFAULT = 32

/** Default number of spectators of one match: they have separate seats, so that they never keep a player out. */
export const SPECTATORS_DEFAULT = 8

/** Default time that the seat of a disconnected player is kept: enough for a reload, without ghosts of closed tabs. */
export const SEAT_HOLD_MS = 5000

/** Default time after which an empty room ends: the next player has time to join, and empty rooms do not pile up. */
export const ROOM_EMPTY_MS = 10_000

/** Default number of rooms of one process: players create rooms for free, so their cost must be bounded. */
export const ROOMS_DEFAULT = 256

/** Players that one frame may refer to: all connections of an endpoint, and as many bots. */
export const PLAYERS_PER_MATCH_MAX = 8192

/**
 * Bounds of the rate of congestion controllers, in full packets per second: no game is playable below or needs more.
 */
export const CONGESTION_PACKETS_PER_SECOND_MIN = 1
export const CONGESTION_PACKETS_PER_SECOND_MAX = 100_000

/** Maximum debt of a pacer in ms: a rate that fell to its minimum must not stop sending for longer. */
export const PACER_DEBT_MS_MAX = 1000

/** Bytes of the one packet per tick that is always sent: header, acks and tag (51), and 200 for inputs. */
export const URGENT_PACKET_BYTES = 256

/** Fragments of one large message: their number is a byte. */
export const FRAGMENTS_PER_MESSAGE_MAX = 256

/** Bytes of a large message in one fragment: one channel message, less the fragment's own head. */
export const FRAGMENT_BYTES: number = MESSAGE_BYTES_MAX - 5

/** Bytes of the largest message. */
export const LARGE_MESSAGE_BYTES_MAX: number = FRAGMENTS_PER_MESSAGE_MAX * FRAGMENT_BYTES

/** Bytes of messages that wait to be split into fragments, for each channel: two of the largest. */
export const LARGE_STORE_BYTES_MAX: number = 2 ** 19

/**
 * Fragments, and their bytes, that are held for one peer: on each of two channels one message that waits to be received
 * and two that are incomplete, which is the most that an honest peer needs.
 */
export const FRAGMENTS_PER_PEER_MAX = 2048
export const FRAGMENT_BYTES_PER_PEER_MAX: number = 2 ** 21

/** The same for all peers of a process: 64 MiB. */
export const FRAGMENTS_PER_PROCESS_MAX = 65_536
export const FRAGMENT_BYTES_PER_PROCESS_MAX: number = 2 ** 26

/** Channels of one connection that carry large messages. */
export const LARGE_CHANNELS_MAX = 2

/** Incomplete large messages on one channel: a window of reliable messages contains the ends of fewer. */
export const FRAGMENT_GROUPS_MAX = 64

/** A large message on an unreliable channel that is not complete after this time is discarded. */
export const FRAGMENT_GROUP_MS_MAX = 2000

/** Logical channels of one connection: their number is 4 bits of a frame. */
export const CHANNELS_MAX = 16

/** Bytes of messages that may wait in one send queue: the total capacity of its channels. */
export const SEND_QUEUE_BYTES_MAX: number = CHANNELS_MAX * LARGE_STORE_BYTES_MAX

/** Messages and calls one game may declare, together: their number is a byte. */
export const MESSAGE_TYPES_MAX = 256

/** Requests of one connection without an answer yet: more of them at the same time indicates an endless loop. */
export const RPC_PENDING_MAX = 256

/** Calls from one peer that wait for their tick: a second at two per tick at 128 Hz. */
export const RPC_INBOX_MAX = 256

/**
 * Bytes of these calls, unless there is only one: two of the largest, so that early large calls cost no more than
 * fragments.
 */
export const RPC_INBOX_BYTES_MAX: number = 2 ** 19

/** Default time that a request waits for its answer. */
export const RPC_TIMEOUT_MS = 5000
