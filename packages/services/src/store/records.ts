/**
 * Records: what must outlive the processes, such as results of matches. A record has a kind, an id, a time and a text,
 * and never changes. Adding the same id again changes nothing.
 *
 * Implementations: `MemoryRecords`, and `SqliteRecords` with a file. They have the same contract
 * (test/contract/records.contract.ts). Every call answers within `STORE_DEADLINE_MS`, and none throws.
 */

/** Bytes of the text of a record. */
export const RECORD_BYTES_MAX = 65_536

/** Records that wait in memory while the disk is full or slow. The oldest is dropped for a newer one. */
export const RECORDS_WAITING_MAX = 10_000

/** Records of one page at most. */
export const RECORD_PAGE_MAX = 500

/**
 * The answer to `add`. `stored`: it is in the store, also after the process is killed. `known`: it was there before.
 * `waiting`: it is in memory, and is stored as soon as the disk allows it. `failed`: it is invalid, or the store is
 * closed.
 */
export type AddAnswer = 'stored' | 'known' | 'waiting' | 'failed'

/** One record. */
export interface StoredRecord {
  /** Grows with every record of the store. */
  readonly number: number
  readonly id: string
  /** When it happened, in ms since 1970. */
  readonly at: number
  readonly body: string
}

/** Some records of a kind, in the order in which they were stored. */
export interface RecordPage {
  readonly records: readonly StoredRecord[]
  /** Pass it as `after` for the next page. Undefined: this is the last page. */
  readonly next: number | undefined
}

/** What happened to records. They only grow. */
export interface RecordCounts {
  stored: number
  known: number
  failed: number
  /** Dropped from memory, because too many waited. */
  dropped: number
}

/** A store of records. Kinds are short names (`result`); ids are checked by `isLeaseId`. */
export interface Records {
  readonly counts: Readonly<RecordCounts>
  /** How many wait in memory. */
  readonly waiting: number
  add(kind: string, id: string, at: number, body: string): Promise<AddAnswer>
  get(kind: string, id: string): Promise<StoredRecord | undefined | 'unavailable'>
  /** Up to `limit` records with numbers above `after`; 0 begins. */
  page(kind: string, after: number, limit: number): Promise<RecordPage | 'unavailable'>
  /** Stores what waits, if the disk allows it, and closes. */
  close(): Promise<void>
}

const KIND = /^[a-z][a-z-]{0,23}$/

/** Whether the parts of a record are valid, except its id. SQLite ends a text at a zero, so a body has none. */
export function isRecord(kind: string, at: number, body: string): boolean {
  return KIND.test(kind) && Number.isSafeInteger(at) && at >= 0 && !body.includes('\0')
    && Buffer.byteLength(body) <= RECORD_BYTES_MAX
}

/** How many records a page has. */
export function recordPageSize(limit: number): number {
  return Math.max(1, Math.min(RECORD_PAGE_MAX, Math.floor(limit) || 1))
}
