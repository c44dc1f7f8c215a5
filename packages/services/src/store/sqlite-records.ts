/**
 * Records in a file of SQLite, written by a thread of their own.
 *
 * ```
 * add ──▶ waiting (memory, at most RECORDS_WAITING_MAX) ──▶ one transaction at a time ──▶ file ──▶ 'stored'
 * ```
 *
 * A record waits until its transaction has ended. When that takes longer than the deadline, or the disk is full, the
 * answer is `waiting`, and the transaction is tried again every `RETRY_MS`.
 */

import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { ConfigError } from 'tickwire'
import { isLeaseId } from './lease-key.ts'
import { STORE_DEADLINE_MS } from './leases.ts'
import type { RecordsAnswer, RecordsRequest, RecordsTask } from './records-process.ts'
import {
  isRecord, RECORDS_WAITING_MAX, recordPageSize, type AddAnswer, type RecordCounts, type RecordPage, type Records,
  type StoredRecord,
} from './records.ts'
import { findSqlite, type NewRecord, type SqliteLibrary } from './sqlite-file.ts'

/** A failed transaction is tried again after this time, in ms. */
const RETRY_MS = 1000
/** Records of one transaction: some ms of the thread. */
const BATCH_MAX = 256

/** How records are kept in a file. */
export interface SqliteRecordsOptions {
  /** The file. It is made if it is missing. */
  readonly path: string
  /** Default: `node:sqlite` where Node has it, otherwise `libsql`. */
  readonly library?: SqliteLibrary
  /** Whether a stored record survives a loss of power. Default false: it survives the end of the process. */
  readonly isDurable?: boolean
}

interface Waiting {
  readonly record: NewRecord
  readonly answers: ((answer: AddAnswer) => void)[]
}

/** Opens a file. Throws `ConfigError` when there is no library. */
export function openSqliteRecords(options: SqliteRecordsOptions): SqliteRecords {
  const library = options.library ?? findSqlite()
  if (library === undefined)
    throw new ConfigError('--records', 'no SQLite', 'use Node 22.13 or newer, or npm install libsql.')
  return new SqliteRecords({ path: options.path, library, isDurable: options.isDurable ?? false })
}

export class SqliteRecords implements Records {
  readonly counts: RecordCounts = { stored: 0, known: 0, failed: 0, dropped: 0 }
  readonly #task: RecordsTask
  readonly #waiting: Map<string, Waiting> = new Map()
  readonly #questions: Map<number, (answer: RecordsAnswer | undefined) => void> = new Map()
  #worker: Worker | undefined
  #ticket = 0
  #isWriting = false
  #retry: NodeJS.Timeout | undefined
  #isClosed = false
  /** Why the last transaction failed; undefined after one that did not. */
  problem: string | undefined

  constructor(task: RecordsTask) {
    this.#task = task
  }

  get waiting(): number {
    return this.#waiting.size
  }

  async add(kind: string, id: string, at: number, body: string): Promise<AddAnswer> {
    if (this.#isClosed || !isLeaseId(id) || !isRecord(kind, at, body)) {
      this.counts.failed++
      return 'failed'
    }
    const name = `${kind} ${id}`
    const waiting = this.#waiting.get(name) ?? { record: [kind, id, at, body] as const, answers: [] }
    this.#waiting.set(name, waiting)
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= RECORDS_WAITING_MAX) break
      this.#waiting.delete(oldest)
      this.counts.dropped++
    }
    // While the disk is full, a record is not worth waiting for.
    if (this.problem !== undefined) return 'waiting'
    const answer = new Promise<AddAnswer>((resolve) => waiting.answers.push(resolve))
    void this.#write()
    return await within(answer, 'waiting')
  }

  async get(kind: string, id: string): Promise<StoredRecord | undefined | 'unavailable'> {
    if (!isLeaseId(id)) return undefined
    const said = await this.#ask((ticket) => ({ kind: 'get', ticket, of: kind, id }))
    return said?.records === undefined ? 'unavailable' : said.records[0]
  }

  async page(kind: string, after: number, limit: number): Promise<RecordPage | 'unavailable'> {
    const size = recordPageSize(limit)
    const said = await this.#ask((ticket) => ({ kind: 'page', ticket, of: kind, after, limit: size + 1 }))
    if (said?.records === undefined) return 'unavailable'
    const records = said.records.slice(0, size)
    return { records, next: said.records.length > size ? records.at(-1)?.number : undefined }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    clearTimeout(this.#retry)
    await within(this.#write(), undefined)
    this.#isClosed = true
    clearTimeout(this.#retry)
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    worker.postMessage({ kind: 'close' } satisfies RecordsRequest)
    await within(ended, undefined)
    await worker.terminate()
  }

  /** Writes what waits, one transaction after the other, until nothing waits or one fails. */
  async #write(): Promise<void> {
    if (this.#isWriting || this.#isClosed) return
    this.#isWriting = true
    try {
      while (this.#waiting.size > 0) {
        const batch = [...this.#waiting.entries()].slice(0, BATCH_MAX)
        const records = batch.map(([, { record }]) => record)
        const said = await this.#question((ticket) => ({ kind: 'add', ticket, records }))
        this.problem = said === undefined ? 'the thread has ended' : said.problem
        if (said?.areNew === undefined) return this.#tryLater(batch.map(([, each]) => each))
        batch.forEach(([name, { answers }], at) => {
          this.#waiting.delete(name)
          const answer = said.areNew?.[at] === true ? 'stored' : 'known'
          this.counts[answer]++
          for (const resolve of answers) resolve(answer)
        })
      }
    } finally {
      this.#isWriting = false
    }
  }

  #tryLater(batch: readonly Waiting[]): void {
    for (const { answers } of batch) for (const resolve of answers.splice(0)) resolve('waiting')
    if (this.#isClosed) return
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => void this.#write(), RETRY_MS)
    this.#retry.unref()
  }

  async #ask(request: (ticket: number) => RecordsRequest): Promise<RecordsAnswer | undefined> {
    return this.#isClosed ? undefined : await within(this.#question(request), undefined)
  }

  /** Asks the thread. Undefined: it has ended. */
  async #question(request: (ticket: number) => RecordsRequest): Promise<RecordsAnswer | undefined> {
    const worker = this.#worker ??= this.#startWorker()
    const ticket = ++this.#ticket
    return await new Promise((resolve) => {
      this.#questions.set(ticket, resolve)
      worker.postMessage(request(ticket))
    })
  }

  #startWorker(): Worker {
    const extension = extname(fileURLToPath(import.meta.url))
    const program = new URL(`./records-process${extension}`, import.meta.url)
    const worker = new Worker(extension === '.ts' ? compiled(program) : program, {
      workerData: this.#task, execArgv: [],
    })
    worker.unref()
    worker.on('message', (answer: RecordsAnswer) => {
      const resolve = this.#questions.get(answer.ticket)
      this.#questions.delete(answer.ticket)
      resolve?.(answer)
    })
    worker.on('error', (error) => { this.problem = error.message })
    worker.on('exit', () => {
      this.#worker = undefined
      for (const resolve of this.#questions.values()) resolve(undefined)
      this.#questions.clear()
    })
    return worker
  }
}

/** A thread of Node 20 cannot begin with a source file. The published package is JavaScript. */
function compiled({ href }: URL): URL {
  const [file, compiler] = [href, import.meta.resolve('tsx/esm/api')].map((text) => JSON.stringify(text))
  const code = `import { tsImport } from ${compiler}; await tsImport(${file}, ${file})`
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`)
}

/** The promise, or `otherwise` after the deadline. */
async function within<Answer, Other>(promise: Promise<Answer>, otherwise: Other): Promise<Answer | Other> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Other>((resolve) => { timer = setTimeout(resolve, STORE_DEADLINE_MS, otherwise) })
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
