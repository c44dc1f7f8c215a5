/**
 * Records in the memory of one process: the default. It has the last `RECORDS_WAITING_MAX` of them.
 */

import { isLeaseId } from './lease-key.ts'
import {
  isRecord, RECORDS_WAITING_MAX, recordPageSize, type AddAnswer, type RecordCounts, type RecordPage, type Records,
  type StoredRecord,
} from './records.ts'

export class MemoryRecords implements Records {
  readonly counts: RecordCounts = { stored: 0, known: 0, failed: 0, dropped: 0 }
  readonly waiting: number = 0
  readonly #records: Map<string, StoredRecord & { readonly kind: string }> = new Map()
  #number = 0
  #isClosed = false

  async add(kind: string, id: string, at: number, body: string): Promise<AddAnswer> {
    if (this.#isClosed || !isLeaseId(id) || !isRecord(kind, at, body)) {
      this.counts.failed++
      return 'failed'
    }
    const name = `${kind} ${id}`
    if (this.#records.has(name)) {
      this.counts.known++
      return 'known'
    }
    this.#records.set(name, { kind, number: ++this.#number, id, at, body })
    this.counts.stored++
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= RECORDS_WAITING_MAX) break
      this.#records.delete(oldest)
      this.counts.dropped++
    }
    return 'stored'
  }

  async get(kind: string, id: string): Promise<StoredRecord | undefined> {
    const found = this.#records.get(`${kind} ${id}`)
    return found === undefined ? undefined : recordOf(found)
  }

  async page(kind: string, after: number, limit: number): Promise<RecordPage> {
    const size = recordPageSize(limit)
    const found: StoredRecord[] = []
    for (const record of this.#records.values()) {
      if (record.kind !== kind || record.number <= after) continue
      if (found.length === size) return { records: found, next: found.at(-1)?.number }
      found.push(recordOf(record))
    }
    return { records: found, next: undefined }
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }
}

function recordOf({ number, id, at, body }: StoredRecord): StoredRecord {
  return { number, id, at, body }
}
