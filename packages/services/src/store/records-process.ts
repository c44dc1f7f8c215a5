/**
 * The thread that writes records: a checkpoint of SQLite takes up to 65 ms, which a service cannot spare.
 * `sqlite-records.ts` starts it.
 */

import { parentPort, workerData } from 'node:worker_threads'
import { SqliteFile, type NewRecord, type SqliteLibrary } from './sqlite-file.ts'
import type { StoredRecord } from './records.ts'

/** What the thread is started with. */
export interface RecordsTask {
  readonly path: string
  readonly library: SqliteLibrary
  readonly isDurable: boolean
}

/** A request to the thread. */
export type RecordsRequest =
  | { readonly kind: 'add'; readonly ticket: number; readonly records: readonly NewRecord[] }
  | { readonly kind: 'get'; readonly ticket: number; readonly of: string; readonly id: string }
  | {
    readonly kind: 'page'; readonly ticket: number; readonly of: string; readonly after: number
    readonly limit: number
  }
  | { readonly kind: 'close' }

/** An answer of the thread. `problem`: the request failed, and nothing changed. */
export interface RecordsAnswer {
  readonly ticket: number
  readonly problem?: string
  readonly areNew?: readonly boolean[]
  readonly records?: readonly StoredRecord[]
}

const { path, library, isDurable } = workerData as RecordsTask
let file: SqliteFile | undefined

/** Opened when it is needed: a disk that is full at the start may have room later. */
function openFile(): SqliteFile {
  return file ??= new SqliteFile(path, library, isDurable)
}

parentPort?.on('message', (request: RecordsRequest) => {
  if (request.kind === 'close') {
    try {
      file?.close()
    } catch {}
    parentPort?.close()
    return
  }
  parentPort?.postMessage(answer(request))
})

function answer(request: Exclude<RecordsRequest, { readonly kind: 'close' }>): RecordsAnswer {
  const { ticket } = request
  try {
    switch (request.kind) {
      case 'add': return { ticket, areNew: openFile().add(request.records) }
      case 'get': {
        const found = openFile().get(request.of, request.id)
        return { ticket, records: found === undefined ? [] : [found] }
      }
      case 'page': return { ticket, records: openFile().page(request.of, request.after, request.limit) }
    }
  } catch (error) {
    return { ticket, problem: (error as Error).message }
  }
}
