/**
 * Every limit of the engine, each with its reason. Nothing else in core spells a bound.
 *
 * A limit here is what an attacker, a bug or a bad day can cost us at most.
 */

/**
 * Bytes of a datagram that cross any path unfragmented: IPv6 promises 1,280, less 40 + 8 for IPv6 and UDP
 * headers, less 32 for tunnels (PPPoE, VPN) that eat into it.
 */
export const DATAGRAM_BYTES_SAFE = 1200

/** Largest datagram any transport may hand in or out: an Ethernet frame's payload, so buffers fit one page pair. */
export const DATAGRAM_BYTES_MAX = 1500

/** Bits of one bit-field write or read: one machine word, so that the accumulator never needs two. */
export const BIT_FIELD_BITS_MAX = 32

/** Bytes of one text or bytes value, unless the field asks for less: a chat line or a name, never a document. */
export const VALUE_BYTES_MAX = 16_383

/** Items of one list field: more than that is a table of objects, and should be one. */
export const LIST_ITEMS_MAX = 1024

/** How deep structs, lists and groups nest: recursion in decoders is bounded by this and not by the input. */
export const SCHEMA_DEPTH_MAX = 8

/** Int32 lanes of one object's row: 16 KiB a row, so that rings of rows stay in memory. Far beyond any game seen. */
export const SCHEMA_LANES_MAX = 4096

/** Bytes under one bit cursor: bit positions stay below 2^30, small integers in every engine (31-bit ones in Chrome). */
export const BIT_BUFFER_BYTES_MAX: number = 2 ** 27 - 1

/** Bits per component of a quantised rotation: below 3 there is nothing to say, and the codec's integers stay exact up to here. */
export const QUAT_BITS_MIN = 3
export const QUAT_BITS_MAX = 20

/** Kinds of frame a connection can carry: what the 4-bit kind field names. Also the most sources one packet can serve. */
export const FRAME_KINDS_MAX = 16

/** Bytes of one frame's body: what its 14-bit length field names. */
export const FRAME_BYTES_MAX = 16_383

/** Frames of one packet on the way out: a source that never says "no more" costs this much and not a hang. */
export const FRAMES_PER_PACKET_MAX = 64

/** Packets behind the newest that are still told apart as new or replayed: 8 s at 128 Hz, 128 bytes a connection. */
export const REPLAY_WINDOW_PACKETS = 1024

/** Packets whose fate is still awaited: 2 s at 128 Hz. Beyond that the oldest is given up for lost. */
export const SENT_PACKETS_MAX = 256

/** Packets of one connection in one flush: a source with much to say must leave the rest for later, not flood a router. */
export const PACKETS_PER_FLUSH_MAX = 32

/** Messages of a reliable channel between the oldest unacknowledged and the newest sent. */
export const RELIABLE_WINDOW_MESSAGES = 256

/** Bytes of one message: fits a safe datagram beside header (22), acks (13), frame heads (7) and the seal's tag (16). */
export const MESSAGE_BYTES_MAX = 1024

/** Bytes of messages one channel holds in each direction: a slow or hostile peer pins this much and no more. */
export const MESSAGE_STORE_BYTES_MAX = 65_536

/** Events about objects that are not in a client's view yet: a quarter second of a loud match. The oldest makes room. */
export const EVENTS_WAITING_MAX = 256

/** Connections one endpoint accepts: their places, and those of as many guests, are 13 bits of the connection id. */
export const CONNECTIONS_MAX = 4096

/** Connections one endpoint opens itself: they are found by a scan. */
export const OUTGOING_CONNECTIONS_MAX = 64

/** Answers to strangers that wait for the next flush; more are dropped, for strangers repeat themselves. */
export const PENDING_REPLIES_MAX = 64

/** Bytes the game may add to a connection request (a name, a ticket) and to the welcome that answers it. */
export const USER_BYTES_MAX = 64
export const WELCOME_BYTES_MAX = 256

/** Cipher suites one request may offer. */
export const OFFERED_SUITES_MAX = 8

/** How old a challenge may be before a client asks for another beside answering it: half of what it is good for at least. */
export const CHALLENGE_FRESH_MS = 2000

/** How long a guest is awaited who was accepted and is silent: 20 of his tries, of which at 60 % loss all fail once in 27,000 times. */
export const GUEST_MS = 5000

/**
 * Guests an endpoint awaits, beside its seats: what 256 origins may have. The one silent longest makes room, so an
 * honest one is pushed out only by as many handshakes within his round trip, which no server could compute.
 */
export const GUESTS_MAX = 1024

/**
 * Guests of one origin: a household that comes all at once, or attempts of one client whose port moved from each to the next, which look like neighbours. Who finds no
 * room is not answered, and asks again a quarter second later; older attempts at his own address give way.
 */
export const GUESTS_PER_ORIGIN = 4

/** Bytes of the longest answer to a stranger: an Accepted with all its welcome. */
export const REPLY_BYTES_MAX = 400

/** Origins whose rate is counted at once, in sets of 4; the one unheard longest makes room. 40 KiB. */
export const ORIGIN_SETS = 256
export const ORIGIN_WAYS = 4

/** From one origin: connections at once, handshakes and challenges a second. A household, not a crowd. */
export const CONNECTIONS_PER_ORIGIN = 5
export const HANDSHAKES_PER_ORIGIN_PER_SECOND = 10
export const CHALLENGES_PER_ORIGIN_PER_SECOND = 50

/** Strangers answered a second, all together, before they must ask twice: more than come to any honest opening. */
export const CHALLENGES_PER_SECOND = 1000

/** How soon a request counts as repeated, and for how long it is remembered: clients repeat it every 200 to 250 ms. */
export const KNOCK_MS_MIN = 100
export const KNOCK_MS_MAX = 2000

/** Addresses remembered in a flood, in sets of 4: two thirds of a second of 50,000. 256 KiB, made at the first one. */
export const KNOCK_SETS = 8192
export const KNOCK_WAYS = 4

/**
 * Packets a second that a peer is expected to send, unless an endpoint is told otherwise: the most that congestion
 * controllers allow by default. Above three times that they are dropped: honest clocks and timers are not that wrong.
 * Above ten times the connection ends: each one costs a decryption, and nothing honest comes near.
 */
export const PEER_PACKETS_PER_SECOND = 1000
export const INBOUND_DROP_TIMES = 3
export const INBOUND_END_TIMES = 10

/**
 * Where the tick rate is known, players are expected to send four packets a tick: inputs, an answer, a voice, and a little more
 * for what is large. And this many in any case: a voice keeps no time with the game, and a map of a megabyte takes 4 s.
 */
export const PLAYER_PACKETS_PER_TICK = 4
export const PLAYER_PACKETS_PER_SECOND_MIN = 240

/** So much of it may come at once: what an outage of a few seconds held back. */
export const INBOUND_BURST_MS = 1000

/** Resets one endpoint sends a second, to all together: a courtesy, not a service to floods. */
export const RESETS_PER_SECOND = 100

/** A new address of a peer is checked at most this often, and given up when nothing comes from it for this long. */
export const PATH_CHECK_MS = 250
export const PATH_CANDIDATE_MS = 3000

/** Bytes of the longest packet that checks a path: header 22, acks 13, frame 12, tag 16. */
export const PATH_CHECK_BYTES_MAX = 63

/** Different texts, byte strings and lists alive in one world: a peer that invents new ones forever is cut off here. */
export const VALUE_HEAP_ENTRIES_MAX = 65_536

/** Bytes of their encoded content: entries alone would allow a gigabyte of the longest values. */
export const VALUE_HEAP_BYTES_MAX: number = 2 ** 26

/** Values, and bytes of them, in a heap before it is worth asking who holds what: less than this no collection can save. */
export const VALUE_SWEEP_ENTRIES_MIN = 256
export const VALUE_SWEEP_BYTES_MIN = 65_536

/** Objects alive in one world at once: 16 bits of index beside 16 of generation make an id of 32. */
export const OBJECTS_MAX = 65_536

/** Entities one game may declare: their number is a byte, and 255 means nobody. */
export const ENTITY_TYPES_MAX = 255

/** Ticks one call may run to catch up: a host that slept longer jumps, instead of freezing its players again. */
export const CATCH_UP_TICKS_MAX = 8

/** Inputs kept by tick on either side: two seconds at 128 Hz, and a power of two. */
export const INPUT_WINDOW = 256

/** Ticks ahead of the authority for which it takes inputs: half a window, so that what is kept is not overrun. */
export const INPUT_AHEAD_MAX = 128

/** Inputs in one frame: a quarter of a second at 128 Hz; 5 bits count them. */
export const INPUTS_PER_FRAME_MAX = 32

/** Ticks a second: above this a tick is shorter than the timers of any platform can tell. */
export const TICK_RATE_MAX = 1000

/** Players of one match unless the host says otherwise. */
export const PLAYERS_DEFAULT = 32

/** Spectators of one match unless the host says otherwise: seats of their own, so that they never keep a player out. */
export const SPECTATORS_DEFAULT = 8

/** The seat of a player whose line is gone is kept so long unless the host says otherwise: a reload, and not a ghost of who closed his tab. */
export const SEAT_HOLD_MS = 5000

/** A room that nobody is in ends after this unless the host says otherwise: time for the next to come, not for a thousand to pile up. */
export const ROOM_EMPTY_MS = 10_000

/** Rooms of one process unless the host says otherwise: what players make them for nothing must cost something bounded. */
export const ROOMS_DEFAULT = 256

/** Players of whom one frame may speak: all connections of an endpoint, and as many bots. */
export const PLAYERS_PER_MATCH_MAX = 8192

/** Bits of the longest prefix code: what a symbol may cost at worst, and what one look ahead must hold. */
export const PREFIX_BITS_MAX = 12

/** How far back a Timeline remembers unless told otherwise: longer than any round trip that can still be played. */
export const TIMELINE_WINDOW_MS = 1000

/** Between two ticks a moment is told in so many steps, 2^-8 of a tick: 31 microseconds at 128 Hz, and exact in a double. */
export const VIEW_TICK_STEPS = 256

/** How long an object nobody has heard of goes on as it went. A quarter second is as far as a turn can be guessed at all. */
export const EXTRAPOLATION_MS = 250

/** How long until half of a correction is out of the picture: slower looks like ice, faster like a jump. 99 % in 0.3 s. */
export const SMOOTHING_HALF_LIFE_MS = 80

/** Arrivals that the delay of drawing is judged by: a second at 128 Hz, six at 20 Hz. */
export const ARRIVALS_REMEMBERED = 128

/** How far back a shot may reach unless told otherwise: beyond it, who was hit has been behind his wall for too long. */
export const REWIND_MS = 250

/** Rewinds of one tick unless told otherwise, all players together: 32 players who fire in every other tick. */
export const REWINDS_PER_TICK = 16

/** Ticks a Timeline remembers: 16 seconds at 128 Hz. What needs longer memory is a recording. */
export const TIMELINE_TICKS_MAX = 2048

/** Rows of one entity in a Timeline: a reference has 24 bits for them. */
export const TIMELINE_ROWS_MAX: number = 2 ** 24

/** An object that came into view within a distance leaves it this many times farther away: who walks along the border does not flicker. */
export const INTEREST_LEAVE_RATIO = 1.1

/** The priority of an entity: above this an object of priority 1 would wait for minutes. */
export const INTEREST_PRIORITY_MAX = 1000

/** Places one client looks from at once: a general's units are many, and every one of them is a search. */
export const VIEWPOINTS_MAX = 64

/** Cells of a grid on each side of a viewer: with more a search visits more empty cells than objects. */
export const GRID_RINGS_MAX = 16

/**
 * Sequences one key may span. ChaCha20-Poly1305 would allow 2^62; 2^48 packets are 70,000 years at 128 Hz and leave
 * the sequence an exact number. AES-256-GCM: its nonce has 32 bits for them.
 */
export const CHACHA_KEY_PACKETS_MAX: number = 2 ** 48
export const AES_GCM_KEY_PACKETS_MAX: number = 2 ** 32

/** Packets after which a key is replaced. AES-GCM: half of what RFC 9001 allows before its secrecy thins (2^23). */
export const CHACHA_REKEY_PACKETS: number = 2 ** 32
export const AES_GCM_REKEY_PACKETS: number = 2 ** 22

/** A key is also replaced after this time and after this much plaintext: what a stolen key opens is bounded. */
export const REKEY_MS: number = 15 * 60_000
export const REKEY_BYTES: number = 2 ** 30

/**
 * Forged packets after which a key is replaced, and after which the connection ends (RFC 9001 for ChaCha20-Poly1305).
 * The second is far away on purpose: a low one would let a stranger end connections by writing nonsense.
 */
export const REKEY_FORGERIES: number = 2 ** 20
export const FORGERIES_MAX: number = 2 ** 36

/** How long packets of the old key are still opened once the peer uses the new one: 2 s of path, twice, and a second. */
export const KEY_OVERLAP_MS = 5000

/** Between two offers of new keys that are answered: each costs two multiplications on a curve, a peer's to spend. */
export const REKEY_GAP_MS = 1000

/** How long a challenge stands, and at most twice that: a retry comes every quarter second, and brings a fresh one. */
export const CHALLENGE_BUCKET_MS = 4000

/** Characters of an address, in the transport's words, that a challenge is bound to. */
export const ADDRESS_CHARS_MAX = 128

/** Bytes a token's issuer may say of a user: an id, a name, a team. */
export const TOKEN_USER_BYTES_MAX = 256

/** Bytes of the name of a game in a token. */
export const TOKEN_AUDIENCE_BYTES_MAX = 32

/** Seconds a token may live: what was used must be remembered that long. Five minutes are plenty. */
export const TOKEN_LIFE_SECONDS_MAX = 3600

/** Seconds by which an issuer's clock may run ahead of a server's. Nothing is forgiven at the other end. */
export const TOKEN_SKEW_SECONDS = 5

/** Keys of issuers that are good at one time: the one in use, and the one before or after it. */
export const TOKEN_ISSUERS_MAX = 2

/** Tokens remembered as used: an hour of 18 arrivals a second. When it is full nobody new is let in. */
export const SPENT_TOKENS_MAX = 65_536

/** Full packets a second between which congestion controllers move: below the one nothing is playable, above the other no game is. */
export const CONGESTION_PACKETS_PER_SECOND_MIN = 1
export const CONGESTION_PACKETS_PER_SECOND_MAX = 100_000

/** How far into the future a pacer may be in debt: a rate that fell to its minimum must not silence us for longer. */
export const PACER_DEBT_MS_MAX = 1000

/** Bytes of the one packet a tick that goes whatever the path says: header, acks and tag (51), and 200 for inputs. */
export const URGENT_PACKET_BYTES = 256

/** Fragments of one large message: their number is a byte. */
export const FRAGMENTS_PER_MESSAGE_MAX = 256

/** Bytes of a large message in one fragment: a message of a channel, less the fragment's own head. */
export const FRAGMENT_BYTES: number = MESSAGE_BYTES_MAX - 5

/** Bytes of the largest message there is. */
export const LARGE_MESSAGE_BYTES_MAX: number = FRAGMENTS_PER_MESSAGE_MAX * FRAGMENT_BYTES

/** Bytes of messages that wait to be cut into fragments, for each channel: two of the largest. */
export const LARGE_STORE_BYTES_MAX: number = 2 ** 19

/**
 * Fragments, and bytes of them, that one peer may have us hold: on each of two channels one message that waits to be
 * received and two that are incomplete, which is the most an honest peer needs.
 */
export const FRAGMENTS_PER_PEER_MAX = 2048
export const FRAGMENT_BYTES_PER_PEER_MAX: number = 2 ** 21

/** The same for all peers of a process: 64 MiB. */
export const FRAGMENTS_PER_PROCESS_MAX = 65_536
export const FRAGMENT_BYTES_PER_PROCESS_MAX: number = 2 ** 26

/** Channels of one connection that carry large messages. */
export const LARGE_CHANNELS_MAX = 2

/** Large messages incomplete at one time on one channel: a window of reliable messages holds the ends of fewer. */
export const FRAGMENT_GROUPS_MAX = 64

/** A large message on an unreliable channel that is not complete after this will never be. */
export const FRAGMENT_GROUP_MS_MAX = 2000

/** Logical channels of one connection: their number is 4 bits of a frame. */
export const CHANNELS_MAX = 16

/** Bytes of messages that may wait in one lane: what its channels could hold between them. */
export const LANE_BUFFER_BYTES_MAX: number = CHANNELS_MAX * LARGE_STORE_BYTES_MAX

/** Streams of one peer whose newest update is remembered: a thousand objects. The one known longest is forgotten first. */
export const STALE_STREAMS_MAX = 1024

/** Messages and calls one game may declare, together: their number is a byte. */
export const MESSAGE_TYPES_MAX = 256

/** Requests of one connection whose answers have not come: more of them at once is a loop without an end. */
export const RPC_PENDING_MAX = 256

/** Calls from one peer that wait for their tick: a second of two a tick at 128 Hz. */
export const RPC_INBOX_MAX = 256

/** How long a request waits for its answer, unless it says otherwise. */
export const RPC_TIMEOUT_MS = 5000

/** Bytes in one chunk of a recording: 65,536 objects of 250 bytes each. More in one tick is not recorded, and counted. */
export const RECORDING_CHUNK_BYTES_MAX: number = 2 ** 24

/** Ticks in one chunk of a recording: four seconds of the fastest game. What was not written yet is what a crash takes. */
export const RECORDING_CHUNK_TICKS_MAX = 4096

/** A recording is written out, and can be sought, this often: what a crash may take, and what a seek must play over. */
export const RECORDING_FLUSH_MS = 500
export const RECORDING_KEY_MS = 1000

/** Bytes of the text of a game in the head of a recording, and of the names of its entities: a long definition, not a book. */
export const RECORDING_TEXT_BYTES_MAX: number = 2 ** 18
export const RECORDING_NAME_BYTES_MAX = 64

/** Bytes of one note or packet in a recording. */
export const RECORDING_ENTRY_BYTES_MAX: number = 2 ** 20

/** Draws of the generator that a range-coded recording counts in a tick, instead of telling its words: a reader draws as often. */
export const RECORDING_DRAWS_MAX = 1023

/** What a ring of the last moments of a match remembers, unless told otherwise, and may take. */
export const RECORDING_RING_MS = 60_000
export const RECORDING_RING_BYTES_MAX: number = 2 ** 26

/** Objects that may be asked for whole at one time: they fit one packet. Who misses more asks again when these have come. */
export const WANTED_ROWS_MAX = 192

/** Snapshots in a row that cannot be decoded: ten seconds of them at 60 Hz and six packets each. Then the peer is broken, or lies. */
export const UNDECODABLE_FRAMES_MAX = 4096

/**
 * Bytes of the tables that a match may hand its clients while it runs, as text and packed: training finds some 10,000 to 50,000 of text for an entity. To unpack as many as this
 * takes half a second, whatever they are.
 */
export const TABLES_BYTES_MAX: number = 2 ** 20

/** Bytes of tables in one frame: two fit a packet, or one beside a snapshot. */
export const TABLES_PIECE_BYTES = 512

/** Bytes that a client's trace may take: ten minutes of an arena. What is longer is no bug report. */
export const TRACE_BYTES_MAX: number = 32 * 1024 * 1024
