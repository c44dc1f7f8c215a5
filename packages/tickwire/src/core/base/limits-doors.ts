/**
 * The limits of a server's listeners ("doors"), each with its reason: what a peer can make the process hold before and
 * beside its connection. `limits.ts` re-exports them, and has the limits of everything behind the listeners.
 *
 * The table in docs/spec/attacks.md says for each door which of these apply. A test compares the two.
 */

/**
 * WebSockets, WebTransport sessions or WebRTC sessions of one server, of each kind: as many as it can have connections.
 */
export const PATHS_MAX = 4096

/**
 * Of these, the paths of one origin: four for each connection that the origin may have. A client that changes its
 * transport has two for a while, and a client that reconnects has left one behind.
 */
export const PATHS_PER_CONNECTION = 4
export const PATHS_PER_ORIGIN = 20

/** A path without a datagram for this long carries no connection: a connection sends at least every second. */
export const PATH_IDLE_MS = 15_000

/**
 * A path on which no connection is open for this long is closed: a handshake takes four round trips, and GUEST_MS at
 * worst.
 */
export const PATH_UNUSED_MS = 10_000

/** How often paths are checked for both timeouts. */
export const PATH_SCAN_MS = 2500

/** TCP sockets of one HTTP server that are not WebSockets: requests take milliseconds, so these are idle or slow. */
export const HTTP_SOCKETS_MAX = 1024

/** TCP sockets of one origin, WebSockets included: six for each tab of a browser, for a household. */
export const TCP_SOCKETS_PER_ORIGIN = 64

/** Deadlines of a request: for its head, and for the request with its body. Both fit a packet or two. */
export const HTTP_HEAD_MS = 5000
export const HTTP_REQUEST_MS = 10_000

/** How often sockets are checked for both: Node's own default of 30 s would be the real deadline. */
export const HTTP_CHECK_MS = 1000

/** A socket without a request is closed after this. */
export const HTTP_KEEP_ALIVE_MS = 5000

/** Bytes of a request's head: a path, and the cookies of the page's other services. */
export const HTTP_HEAD_BYTES_MAX = 16_384

/** Requests of one socket that are not answered yet: no browser sends a second one before the first answer. */
export const HTTP_REQUESTS_PER_SOCKET = 4

/**
 * A response that makes no progress for this long ends its socket. One chunk of a file is 64 KiB, so this is 3.3 KB a
 * second.
 */
export const HTTP_STALL_MS = 20_000

/** Files that are being sent at once, by one server and to one origin: each holds a file descriptor. */
export const DOWNLOADS_MAX = 256
export const DOWNLOADS_PER_ORIGIN = 32

/** A TLS handshake must be complete after this. */
export const TLS_HANDSHAKE_MS = 10_000

/** A refused upgrade's socket is destroyed after this if its answer cannot be written. */
export const REFUSAL_MS = 1000

/** Unsent bytes of one WebSocket beyond which datagrams to it are dropped: queued datagrams would arrive too late. */
export const WEBSOCKET_BUFFERED_BYTES_MAX = 65_536

/**
 * Frames a second of one WebSocket, of all kinds, after which it is closed: INBOUND_END_TIMES what a peer is expected
 * to send.
 */
export const WEBSOCKET_FRAMES_PER_SECOND = 10_000

/** Fragments of one message, and chunks of the stream that wait to be parsed: a datagram arrives in one piece. */
export const WEBSOCKET_FRAGMENTS_MAX = 4
export const WEBSOCKET_CHUNKS_MAX = 256

/** A WebSocket whose close frame is not answered is destroyed after this. */
export const WEBSOCKET_CLOSE_MS = 2000

/** A server that accepts a WebSocket's TCP connection and never answers the upgrade is given up after this. */
export const WEBSOCKET_OPEN_MS = 10_000

/** Bytes of an SDP offer: a browser's has about 500 without candidates, and 4,000 with many. */
export const OFFER_BYTES_MAX = 16_384

/** Offers that one origin may make in a window: a page makes one, and another when the first has failed. */
export const OFFERS_PER_ORIGIN = 8
export const OFFER_WINDOW_MS = 10_000

/** Offers that are counted in a window. With more, all counts are reset; OFFERS_PENDING_MAX still applies. */
export const OFFERS_COUNTED_MAX = 4096

/**
 * Answered offers whose channel has not opened, in total and of one origin: each holds a UDP socket. When there is no
 * room, the oldest offer of the origin with the most offers is dropped, so an honest page is displaced only by an
 * origin with fewer offers.
 */
export const OFFERS_PENDING_MAX = 64
export const OFFERS_PENDING_PER_ORIGIN = 8

/** How long a channel has to open: a page gives up after 2 s. */
export const OFFER_PENDING_MS = 4000

/** Bytes of one WebRTC message on its way in: a datagram and some. The library's default is 262,144. */
export const WEBRTC_MESSAGE_BYTES_MAX = 4096

/** Unsent bytes of one WebRTC channel beyond which datagrams to it are dropped. */
export const WEBRTC_BUFFERED_BYTES_MAX = 16_384

/** How long a closed WebRTC channel may wait for the page to confirm. */
export const WEBRTC_CLOSE_MS = 1000

/**
 * QUIC handshakes in progress from which a new peer must first prove its address by a Retry: in total, and of one
 * origin. Beyond the second pair new peers are ignored.
 */
export const QUIC_HANDSHAKES_FREE = 32
export const QUIC_HANDSHAKES_FREE_PER_ORIGIN = 4
export const QUIC_HANDSHAKES_MAX = 512
export const QUIC_HANDSHAKES_PER_ORIGIN = 16

/** A QUIC connection without a WebTransport session is closed after this. */
export const QUIC_SESSION_MS = 5000

/**
 * Stream bytes, of one connection and of one stream, that a QUIC peer may send before they are read. They never grow.
 */
export const QUIC_CONNECTION_BYTES = 65_536
export const QUIC_STREAM_BYTES = 16_384

/**
 * Streams that a QUIC peer may open, in each direction; streams that HTTP/3 tracks; and buffered bytes of one of them.
 */
export const QUIC_STREAMS_BOTH_WAYS = 4
export const QUIC_STREAMS_ONE_WAY = 8
export const HTTP3_STREAMS_MAX = 16
export const HTTP3_STREAM_BYTES_MAX = 4096

/** Datagrams that wait in one QUIC connection, incoming and outgoing. */
export const QUIC_DATAGRAMS_IN = 1024
export const QUIC_DATAGRAMS_OUT = 16

/**
 * Addresses of one QUIC connection that are remembered, and so how often it may change its address. quiche never
 * forgets an address of a peer whose connection ids are empty, as Chromium's are.
 */
export const QUIC_PATHS_MAX = 64

/** Datagrams that wait for the kernel, of one UDP socket of QUIC. More are dropped; QUIC retransmits what matters. */
export const QUIC_UNSENT_MAX = 256

/** Requests that wait for a change of the room list. More are answered at once, as if the list had changed. */
export const ROOM_WATCHERS_MAX = 256

/** How long such a request waits, in milliseconds: less than HTTP_STALL_MS. */
export const ROOM_WATCH_MS = 15_000

/** Origins whose refusals are remembered for a minute, so that each is logged and counted once. More count as one. */
export const REFUSED_ORIGINS_MAX = 256

/** Log lines per minute that peers can cause, of one kind. */
export const LOG_LINES_PER_MINUTE = 30

/** The longest options of a new room, in front of the join data of the client that creates it. */
export const ROOM_OPTIONS_BYTES_MAX = 128
/** The longest password of a room: half of the request, which also has the names of the room. */
export const ROOM_PASSWORD_BYTES_MAX = 32

/**
 * Tries of room passwords from one origin: ten at once, for a household, and then one in ten seconds. A password of
 * four digits is then found after 14 hours on average, and one of six digits after two months.
 */
export const PASSWORD_TRIES_PER_ORIGIN = 10
export const PASSWORD_TRY_MS = 10_000

/**
 * New tickets of one seat whose client has not taken it again: the newest attempts of one client on a bad path. The
 * oldest is dropped.
 */
export const SEAT_TICKETS_MAX = 4

/**
 * Visits that were given a worker and have not arrived yet. The oldest are forgotten: their transports may then reach
 * different workers.
 */
export const WORKER_VISITS_MAX = 4096
