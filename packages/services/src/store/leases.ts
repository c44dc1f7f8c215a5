/**
 * Leases: everything that services share. A lease has a kind, an id, an owner, a text and a time to live. Only its
 * owner renews or drops it, and nothing else deletes it before its time is over. State that was lost is restored with
 * the next renewal of its owner, which gets `gone` and puts it again.
 *
 * Two implementations have the same contract (test/contract/leases.contract.ts): `MemoryLeases` for one process, and
 * `RedisLeases` for several. Every call answers within `STORE_DEADLINE_MS`, and answers `unavailable` when the store
 * does not answer. No call throws.
 */

/** How long a call waits for the store, in ms. */
export const STORE_DEADLINE_MS = 500

/** Bytes of the text of a lease: a listing has at most 4 KiB. */
export const LEASE_BYTES_MAX = 65_536

/**
 * Bytes of a text between instances. A message of signalling has at most 40,000 bytes, and JSON inside of JSON writes
 * each of them as 6 at most. All of them must fit: a member could otherwise send what its receiver cannot get.
 */
export const MESSAGE_BYTES_MAX = 262_144

/** Leases of one page at most: a page is one answer of the store, and must fit into its deadline. */
export const LEASE_PAGE_MAX = 500

/** The longest time to live, in ms: state that is not renewed for a day belongs into records. */
export const LEASE_MS_MAX = 86_400_000

/**
 * Kinds of leases, each with the most leases that may live at the same time. Memory is the reason: 20,000 leases of
 * 4 KiB are 80 MB.
 */
export const LEASE_KINDS = {
  /** Games in the public list. */
  listing: 20_000,
  /** Processes that have rooms. */
  server: 2000,
  /** Rooms on their way between those processes. */
  room: 50_000,
  /** Tickets of matchmaking. */
  ticket: 50_000,
  /** Reservations of seats. */
  seat: 100_000,
  /** One instance that acts for all. */
  leader: 100,
  /** Sessions of join codes, each of which has two: its id and its code. 20,000 are those of two full instances. */
  code: 40_000,
  /** Ids of tokens that were spent. They are small, and live as long as their token. */
  token: 200_000,
  /** Packet relays. */
  relay: 1000,
  /** Recent actions of an origin: only counted. */
  origin: 200_000,
} as const

/** A kind of lease. */
export type LeaseKind = keyof typeof LEASE_KINDS

/** One lease, as it was read. */
export interface Lease {
  readonly id: string
  readonly owner: string
  readonly value: string
  /**
   * Grows with every new owner of a lease of its kind, also over a loss of the store: it is at least the time in
   * microseconds since 1970. A renewal keeps it.
   */
  readonly number: number
}

/** Some leases of a kind, in the order of their ids. */
export interface LeasePage {
  readonly leases: readonly Lease[]
  /** Pass it as `after` for the next page. Undefined: this is the last page. */
  readonly next: string | undefined
}

/** The store does not answer. */
export type Unavailable = 'unavailable'

/** The answer to `put`: the number of the lease, or why there is none. */
export type PutAnswer = number | 'taken' | 'full' | 'invalid' | Unavailable

/** The answer to `send`. `gone`: no process listens under that id. `too-large`: more than `MESSAGE_BYTES_MAX`. */
export type SendAnswer = 'ok' | 'gone' | 'too-large' | Unavailable

/** Receives a text that was sent to an instance. */
export type MessageListener = (text: string) => void

/** A store of leases. Ids are checked by `isLeaseId`; a lease under an invalid id does not exist. */
export interface Leases {
  /** Whether other processes see the same leases. */
  readonly isShared: boolean
  /** Whether the last calls failed. */
  readonly isDegraded: boolean
  /**
   * Takes a lease, or replaces and renews the owner's own. Returns its number: a new owner's number is higher than all
   * before it, so that a receiver can refuse requests of an earlier owner.
   */
  put(kind: LeaseKind, id: string, owner: string, value: string, ttlMs: number): Promise<PutAnswer>
  /** Renews a lease without changing it. `gone`: it expired, was lost, or has another owner. */
  touch(kind: LeaseKind, id: string, owner: string, ttlMs: number): Promise<'ok' | 'gone' | Unavailable>
  /** Ends a lease of this owner. */
  drop(kind: LeaseKind, id: string, owner: string): Promise<'ok' | 'gone' | Unavailable>
  get(kind: LeaseKind, id: string): Promise<Lease | undefined | Unavailable>
  /** Up to `limit` leases with ids after `after`; an empty text begins. */
  page(kind: LeaseKind, after: string, limit: number): Promise<LeasePage | Unavailable>
  /** Removes a lease and returns it. Of several callers, one gets it. */
  take(kind: LeaseKind, id: string): Promise<Lease | undefined | Unavailable>
  /** Adds one to a counter that begins again `windowMs` after its first count, and returns it. */
  count(kind: LeaseKind, id: string, windowMs: number): Promise<number | Unavailable>
  /** Sends a text to an instance, at most once. */
  send(instance: string, text: string): Promise<SendAnswer>
  /** Listens for texts to an instance, until the returned function is called. */
  onMessage(instance: string, listener: MessageListener): () => void
  close(): Promise<void>
}
