/**
 * Limits of lockstep: orders, ticks and the order relay. `limits.ts` re-exports them: import them from there.
 */

/**
 * Bytes of a datagram that carries orders or ticks. It crosses every path without fragments, old modems and tunnels
 * included: 512 bytes, less 36 for headers.
 */
export const LOCKSTEP_DATAGRAM_BYTES = 476

/** Bytes of one frame of orders or ticks: a datagram, less header (22), acks (13), frame heads (7) and tag (16). */
export const LOCKSTEP_FRAME_BYTES_MAX = 400

/** Bytes of the values of one order: a selection of 250 units with a target, and it fits a frame with its tags. */
export const ORDER_BYTES_MAX = 380

/**
 * Bytes of the values of an order that is too large for a frame: it goes by the message lane `orders`, whose queue
 * holds 4,096 bytes, with its type and the head of its parts.
 */
export const ORDER_LARGE_BYTES_MAX = 4000

/** Bytes of one message on a lane. With the id of its sender it fits one message of a channel (1,024). */
export const LANE_MESSAGE_BYTES_MAX = 1000

/**
 * Bytes that a player may send on message lanes: per second, and at once after a silence. The relay sends each of them
 * to all other players: 32 KiB a second are voice, chat and half a picture.
 */
export const LANE_BYTES_PER_SECOND = 32_768
export const LANE_BYTES_BURST = 65_536

/** Kinds of orders of one game: the numbers from this one on are tick events. */
export const ORDER_TYPES_MAX = 0xc0

/** Objects that one `ids` field may name: more are not a selection, but a whole army. */
export const ORDER_IDS_MAX = 1024

/** Orders that a client keeps until the relay has acknowledged them: four bursts of the default budget. */
export const ORDERS_WAITING_MAX = 512

/** Orders in one frame: one byte counts them. */
export const ORDERS_PER_FRAME_MAX = 255

/** Players of one lockstep game: the relay has one fixed record for each. */
export const LOCKSTEP_PLAYERS_MAX = 16

/** Characters of a card: a relay reads cards of games that it does not know. */
export const LOCKSTEP_CARD_CHARS_MAX = 16_384

/**
 * Bytes of ticks that a relay or client keeps: ten hours of eight players at 200 bytes a second. A match ends there
 * with the reason `log-full`.
 */
export const TICK_LOG_BYTES_MAX = 8_388_608

/** Orders of one player in one tick. The budget is lower; this bounds what a wrong configuration allows. */
export const ORDERS_PER_TICK_MAX = 256

/**
 * Orders that a player may send: per tick on average, and at once after a silence. Normal play has 5 to 10 a second.
 */
export const ORDER_BUDGET_PER_TICK = 16
export const ORDER_BUDGET_BURST = 128

/** Bytes of orders that a player may send: per tick on average, and at once after a silence. */
export const ORDER_BYTES_PER_TICK = 256
export const ORDER_BYTES_BURST = 8192

/** Bytes of orders that wait in a relay for their tick, over all players: 16 players with their whole burst. */
export const RELAY_PENDING_BYTES_MAX = 262_144

/** Ticks by which a late order may slip. A later one is dropped. */
export const SLIP_TICKS_MAX = 8

/** Samples of the way from a client to the relay: 20 seconds of an idle client. */
export const RELAY_SAMPLES = 200

/** Ticks whose pulses a relay keeps and compares: two seconds at 30 Hz, so a slow client is compared too. */
export const PULSE_TICKS = 64

/** Pulses in one frame of orders: half a second at 30 Hz. Older ones that were lost are not compared. */
export const PULSES_PER_FRAME_MAX = 15

/** Bytes of a share of the seed: 256 bits, so that no side can search for a share that gives a wanted commit. */
export const SEED_SHARE_BYTES = 32

/** Random bytes beside a share: a short share could be guessed from its commit. */
export const SEED_NONCE_BYTES = 16

/** How long a player has for its commit, and then for its reveal, in ms. The match waits for them, so it is short. */
export const SEED_WAIT_MS = 5000

/** Bytes of one message of the sync stream: an image of 65,536 objects of a dozen numbers. */
export const SYNC_MESSAGE_BYTES_MAX = 4_194_304

/** Bytes of a message that a relay takes from a client that it has not asked for an image: reports and answers. */
export const SYNC_SMALL_BYTES_MAX = 16_384

/** Bytes that wait in one sync stream: the largest message, and small ones behind it. */
export const SYNC_QUEUE_BYTES_MAX: number = SYNC_MESSAGE_BYTES_MAX + 65_536

/** Bytes of a sync stream that are kept while earlier bytes are missing: 256 packets of 256 bytes. */
export const SYNC_WINDOW_BYTES = 65_536

/**
 * Ticks whose worlds a client keeps: a pulse needs 3 ticks to leave, a round trip of 250 ms to be answered, and a page
 * that draws slowly answers half a second later.
 */
export const HISTORY_TICKS = 32

/** A client that is this many ticks behind gets an image. Fewer ticks are stepped faster than an image arrives. */
export const REJOIN_BEHIND_TICKS = 300

/** How long a player that returns may take until it steps the newest ticks, in ms. Then its seat is free. */
export const REJOIN_MS_MAX = 60_000

/**
 * Bytes of an image that a donor encodes in one tick, about: 1 ms here, and less than a third of a draw on a machine
 * that is five times slower.
 */
export const IMAGE_SLICE_BYTES = 20_480

/** Bytes of old ticks in one message: one in each round trip, so a client gets 40 KB a second at 200 ms. */
export const PAST_PIECE_BYTES = 8192

/** How long a relay waits for an image and its digest, in ms. Then it asks another donor. */
export const IMAGE_WAIT_MS = 5000

/**
 * A client gets at most one image in this time, in ms: a machine that is too slow would request one again and again.
 */
export const REJOIN_AGAIN_MS = 20_000

/** Ticks whose hashes a client keeps, to report them: as many as a relay compares. */
export const HISTORY_ROOTS = 64

/** Bytes that a relay passes on between the two sides of one desync: an image, and the search before it. */
export const DESYNC_CASE_BYTES_MAX: number = SYNC_MESSAGE_BYTES_MAX + 262_144

/** How long one round of naming a desync may take, in ms. Then the relay gives up and asks another donor. */
export const DESYNC_CASE_MS = 5000

/**
 * How long a case waits for the reports of slow pages, and a search with one donor takes at most, in ms: a dozen rounds
 * of pages that draw once in two seconds.
 */
export const DESYNC_CASE_MS_MAX = 30_000

/**
 * Reports that one match makes of cases in which no player differed: a player that lies could fill a disk. Desyncs are
 * always reported; a player has at most three in ten minutes.
 */
export const DESYNC_REPORTS_MAX = 32

/** Heals of one player within ten minutes. At this number the player is removed with `desynced`. */
export const HEALS_MAX = 3
export const HEALS_MS = 600_000

/** Players of a mesh: each sends to all others, so the lines grow with the square. More need a relay. */
export const MESH_PLAYERS_MAX = 3

/** Ticks that a peer of a mesh may be ahead of the tick that is stepped: ten seconds at 30 Hz. */
export const MESH_TICKS_AHEAD_MAX = 300

/** Ticks of one seal: 8.5 seconds at 30 Hz, so a signature costs nothing, and a proof of one tick has eight hashes. */
export const SEAL_TICKS = 256

/** A segment is sealed this many ticks after its last one: by then the reports of slow clients have arrived. */
export const SEAL_WAIT_TICKS = 64

/** Ticks between two key images of a replay: 30 seconds at 30 Hz. A seek steps at most this many ticks. */
export const KEY_IMAGE_TICKS = 900

/** One in this many key images is whole, the others are patches: a damaged patch loses at most the four after it. */
export const KEY_IMAGES_WHOLE = 5

/** Ticks that may wait for the disk: ten seconds. If more wait, the replay has a gap. */
export const REPLAY_QUEUE_TICKS = 300

/** Ticks in one chunk of a replay: what a crash may lose, two seconds. */
export const REPLAY_CHUNK_TICKS = 60

/** Ticks between two signatures of a relay that others may follow: a handover goes back by about a second at most. */
export const HANDOVER_TICKS = 32

/** Relays that may follow a relay: more are not tried in the six seconds that players wait. */
export const HANDOVER_RELAYS_MAX = 8

/** Bytes of the address of a relay, in UTF-8. */
export const HANDOVER_URL_BYTES_MAX = 256

/** A relay that sends nothing for so long is lost, in ms. It acknowledges ten packets a second, in a pause too. */
export const HANDOVER_SILENT_MS = 1200

/** A relay that is asked to end waits so long at most until its clients have the last tick, in ms. */
export const HANDOVER_EXIT_MS = 500

/** How long a relay that follows waits for all players, in ms. Then it decides with those that are there. */
export const HANDOVER_WAIT_MS = 3000

/** A holder of ticks that sends none for so long is replaced by the next one, in ms. */
export const HANDOVER_STALL_MS = 1200

/** How long a handover may take at the relay that follows, in ms. Then its room ends, and the clients go elsewhere. */
export const HANDOVER_MS_MAX = 10_000

/** Ticks after its last signature that a client may present: a signature may be late by some seconds on a bad line. */
export const HANDOVER_TAIL_TICKS_MAX = 300

/** Bytes of these ticks: 16 players with their whole budget for a second. */
export const HANDOVER_TAIL_BYTES_MAX = 131_072

/** Bytes of a message with which a client claims its seat: these ticks, and a checkpoint. */
export const CLAIM_MESSAGE_BYTES_MAX: number = HANDOVER_TAIL_BYTES_MAX + 256

/** Bytes of old ticks in one message: small enough that messages of the match are not stuck behind them. */
export const HANDOVER_PIECE_BYTES = 32_768
