/** The limits of keys, challenges and tokens, each with its reason. `limits.ts` re-exports them. */

/**
 * Sequences that one key may span. ChaCha20-Poly1305 would allow 2^62; 2^48 packets are 70,000 years at 128 Hz and keep
 * the sequence an exact number. AES-256-GCM: its nonce has 32 bits for the sequence.
 */
export const CHACHA_KEY_PACKETS_MAX: number = 2 ** 48
export const AES_GCM_KEY_PACKETS_MAX: number = 2 ** 32

/** Packets after which a key is replaced. AES-GCM: half of the confidentiality limit of RFC 9001 (2^23). */
export const CHACHA_REKEY_PACKETS: number = 2 ** 32
export const AES_GCM_REKEY_PACKETS: number = 2 ** 22

/** A key is also replaced after this time and after this much plaintext, to bound what a stolen key decrypts. */
export const REKEY_MS: number = 15 * 60_000
export const REKEY_BYTES: number = 2 ** 30

/**
 * Forged packets after which a key is replaced, and after which the connection ends (RFC 9001 for ChaCha20-Poly1305).
 * The second limit is high on purpose: with a low one an attacker could end connections by sending garbage.
 */
export const REKEY_FORGERIES: number = 2 ** 20
export const FORGERIES_MAX: number = 2 ** 36

/** How long packets under the old key are accepted once the peer uses the new one: 2 s of path, twice, and a second. */
export const KEY_OVERLAP_MS = 5000

/**
 * Minimum time between two answered offers of new keys: each costs two curve multiplications, and the peer triggers it.
 */
export const REKEY_GAP_MS = 1000

/**
 * How long a challenge is valid, and at most twice that: a retry comes every quarter second, and brings a fresh one.
 */
export const CHALLENGE_BUCKET_MS = 4000

/** Characters of an address, in the transport's format, that a challenge is bound to. */
export const ADDRESS_CHARS_MAX = 128

/** Bytes about the user in a token: an id, a name, a team. */
export const TOKEN_USER_BYTES_MAX = 256

/** Bytes of the name of a game in a token. */
export const TOKEN_AUDIENCE_BYTES_MAX = 32

/** Lifetime of a token in seconds: used tokens must be remembered for that long. Five minutes are plenty. */
export const TOKEN_LIFE_SECONDS_MAX = 3600

/** Seconds by which an issuer's clock may be ahead of a server's. There is no tolerance for expiry. */
export const TOKEN_SKEW_SECONDS = 5

/** Issuer keys that are valid at the same time: the current one, and the one before or after it. */
export const TOKEN_ISSUERS_MAX = 2

/** Tokens remembered as used: an hour of 18 arrivals per second. When it is full no new client is admitted. */
export const SPENT_TOKENS_MAX = 65_536
