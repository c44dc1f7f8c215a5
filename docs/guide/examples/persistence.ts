/** docs/guide/persistence.md: rooms that outlive their server, in a database or in files. */

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { roomImageFromText, roomImageToText, type RoomImage, type ServingRooms } from 'tickwire/node'

// #region store
/** Where rooms are kept: by id, as text. */
export interface RoomStore {
  save(id: string, image: string): void
  remove(id: string): void
  all(): string[]
}
// #endregion

// #region sqlite
/** A database of node:sqlite (`DatabaseSync`), libsql or better-sqlite3: all of them have these two functions. */
interface Database {
  exec(sql: string): unknown
  prepare(sql: string): { run(...values: string[]): unknown; all(): unknown[] }
}

export function sqliteStore(database: Database): RoomStore {
  database.exec('CREATE TABLE IF NOT EXISTS rooms (id TEXT PRIMARY KEY, image TEXT NOT NULL)')
  const save = database.prepare('INSERT OR REPLACE INTO rooms (id, image) VALUES (?, ?)')
  const remove = database.prepare('DELETE FROM rooms WHERE id = ?')
  const all = database.prepare('SELECT image FROM rooms')
  return {
    save: (id, image) => void save.run(id, image),
    remove: (id) => void remove.run(id),
    all: () => all.all().map((row) => (row as { image: string }).image),
  }
}
// #endregion

// #region files
/** One file for each room. A file is written beside and renamed, so that a crash leaves the old one or the new one. */
export function fileStore(folder: string): RoomStore {
  mkdirSync(folder, { recursive: true })
  const pathOf = (id: string): string => join(folder, `${encodeURIComponent(id)}.json`)
  return {
    save(id, image) {
      writeFileSync(`${pathOf(id)}.part`, image)
      renameSync(`${pathOf(id)}.part`, pathOf(id))
    },
    remove: (id) => rmSync(pathOf(id), { force: true }),
    all: () => readdirSync(folder).filter((name) => name.endsWith('.json'))
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  }
}
// #endregion

// #region keep
/** Opens the rooms of the store, and saves all rooms every few seconds until the returned function is called. */
export function keepRooms(serving: ServingRooms, store: RoomStore, everyMs = 5000): () => void {
  const images: readonly RoomImage[] = store.all().map(roomImageFromText)
  serving.restore(images, ({ id }, reason) => console.warn(`room ${id} was not restored: ${reason}`))
  let saved = new Set(serving.images().map(({ id }) => id))
  const save = (): void => {
    const now = serving.images()
    for (const image of now) store.save(image.id, roomImageToText(image))
    const ids = new Set(now.map(({ id }) => id))
    for (const id of saved) if (!ids.has(id)) store.remove(id)
    saved = ids
  }
  const timer = setInterval(save, everyMs)
  return () => {
    clearInterval(timer)
    save()
  }
}
// #endregion
