/**
 * A file of SQLite with records. The library is `node:sqlite` where Node has it (22.13 and newer), otherwise `libsql`.
 *
 * ```
 * records: number | kind | id | at | body           one row for each kind and id
 * ```
 *
 * The journal is a write-ahead log. With `isDurable` a row survives the loss of power too; without it, it survives the
 * end of the process.
 */

import { createRequire } from 'node:module'
import type { StoredRecord } from './records.ts'

/** A library of SQLite. */
export type SqliteLibrary = 'node:sqlite' | 'libsql'

/** `PRAGMA user_version` of a file. */
const SCHEMA_VERSION = 1

const SCHEMA = `
CREATE TABLE IF NOT EXISTS records (
  number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
  body TEXT NOT NULL, UNIQUE (kind, id)
);
PRAGMA user_version = ${SCHEMA_VERSION};
`

interface Statement {
  run(...values: (string | number)[]): { readonly changes: number | bigint }
  get(...values: (string | number)[]): unknown
  all(...values: (string | number)[]): unknown[]
}

interface Database {
  exec(sql: string): unknown
  prepare(sql: string): Statement
  close(): unknown
}

type DatabaseClass = new (path: string) => Database

/** One record to add. */
export type NewRecord = readonly [kind: string, id: string, at: number, body: string]

/** The first library that is there. Undefined: neither is. */
export function findSqlite(): SqliteLibrary | undefined {
  return (['node:sqlite', 'libsql'] as const).find((library) => loadSqlite(library) !== undefined)
}

export class SqliteFile {
  readonly #database: Database
  readonly #insert: Statement
  readonly #get: Statement
  readonly #page: Statement

  /** Throws when the file cannot be opened, or has another schema. */
  constructor(path: string, library: SqliteLibrary, isDurable: boolean) {
    const found = loadSqlite(library)
    if (found === undefined) throw new Error(`${library} is not installed`)
    this.#database = new found(path)
    this.#database.exec('PRAGMA journal_mode = WAL')
    this.#database.exec(`PRAGMA synchronous = ${isDurable ? 'FULL' : 'NORMAL'}`)
    this.#database.exec('PRAGMA busy_timeout = 250')
    const row = this.#database.prepare('PRAGMA user_version').get() as { readonly user_version: number }
    if (row.user_version > SCHEMA_VERSION) throw new Error(`the file has schema ${row.user_version}, which is newer`)
    this.#database.exec(SCHEMA)
    this.#insert = this.#database.prepare('INSERT OR IGNORE INTO records (kind, id, at, body) VALUES (?, ?, ?, ?)')
    this.#get = this.#database.prepare('SELECT number, id, at, body FROM records WHERE kind = ? AND id = ?')
    this.#page = this.#database.prepare(
      'SELECT number, id, at, body FROM records WHERE kind = ? AND number > ? ORDER BY number LIMIT ?',
    )
  }

  /** Adds all of them or none, in one transaction. Returns for each whether it is new. Throws when the disk is full. */
  add(records: readonly NewRecord[]): boolean[] {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const areNew = records.map((record) => Number(this.#insert.run(...record).changes) > 0)
      this.#database.exec('COMMIT')
      return areNew
    } catch (error) {
      // SQLite has ended the transaction itself after some errors.
      try {
        this.#database.exec('ROLLBACK')
      } catch {}
      throw error
    }
  }

  get(kind: string, id: string): StoredRecord | undefined {
    const row = this.#get.get(kind, id)
    return row === undefined || row === null ? undefined : recordOf(row as StoredRecord)
  }

  page(kind: string, after: number, limit: number): StoredRecord[] {
    return this.#page.all(kind, after, limit).map((row) => recordOf(row as StoredRecord))
  }

  close(): void {
    this.#database.close()
  }
}

function recordOf({ number, id, at, body }: StoredRecord): StoredRecord {
  return { number, id, at, body }
}

function loadSqlite(library: SqliteLibrary): DatabaseClass | undefined {
  const load = createRequire(import.meta.url)
  try {
    // reason: both libraries have the functions of `Database`, which the contract test runs against each.
    return (library === 'libsql' ? load(library) : load(library).DatabaseSync) as DatabaseClass
  } catch {
    return undefined
  }
}
