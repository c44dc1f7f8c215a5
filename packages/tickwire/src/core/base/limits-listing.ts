/**
 * The limits of listings, each with its reason: what a tracker or a client keeps of strangers' games. `limits.ts`
 * re-exports them.
 */

/** Bytes of the signed text of a listing: a tracker keeps thousands, and a page of 100 must load on a phone. */
export const LISTING_BYTES_MAX = 4096

/** UTF-16 units of a name in a listing: one line on a phone. */
export const LISTING_NAME_CHARS_MAX = 64

/** Characters of an address in a listing. */
export const LISTING_URL_CHARS_MAX = 256

/** Names of players in a listing. */
export const LISTING_NAMES_MAX = 64

/** Custom rules of a listing. */
export const LISTING_CUSTOM_MAX = 16

/** Mods that a listing requires. */
export const LISTING_MODS_MAX = 16

/** Entries that are read of the list of another engine: its master server has some hundreds. */
export const LISTINGS_FOREIGN_MAX = 1000

/** Listings that a client takes from one tracker. */
export const LISTINGS_PER_TRACKER_MAX = 1000

/** Trackers that a client asks: each is a source of strangers' bytes. */
export const TRACKERS_MAX = 10

/** An older signature is not shown: a tracker could otherwise show a match that has ended. In ms. */
export const LISTING_AGE_MS_MAX = 600_000

/** How long a client waits for one answer of a tracker, in ms. */
export const LIST_ASK_MS = 5000

/** Bytes of one answer: 200 listings of 4 KiB fit. */
export const LIST_ANSWER_BYTES_MAX = 1_048_576

/** Pages that a client reads from one tracker: those of `LISTINGS_PER_TRACKER_MAX` listings. */
export const LIST_PAGES_MAX = 10
