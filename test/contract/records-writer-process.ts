/** Writes records until it is killed, and prints the id of each that was stored. `argv`: file, library. */

import { leaseIdOf } from '../../packages/services/src/store/lease-key.ts'
import type { SqliteLibrary } from '../../packages/services/src/store/sqlite-file.ts'
import { openSqliteRecords } from '../../packages/services/src/store/sqlite-records.ts'

const [path = '', library = 'libsql'] = process.argv.slice(2)
const records = openSqliteRecords({ path, library: library as SqliteLibrary })
for (let round = 0; ; round++) {
  const ids = Array.from({ length: 8 }, (_, at) => leaseIdOf(`${process.pid} ${round} ${at}`))
  const answers = await Promise.all(ids.map(async (id) => await records.add('result', id, round, 'x'.repeat(200))))
  process.stdout.write(ids.filter((_, at) => answers[at] === 'stored').map((id) => `${id}\n`).join(''))
}
