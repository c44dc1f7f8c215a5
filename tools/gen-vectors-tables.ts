/**
 * Writes test/vectors/tables.json from what the engine does today. The test beside the vectors reads them with a reader
 * of its own: this tool makes bytes, and does not say that they are right.
 */

import { writeFileSync } from 'node:fs'
import { makeTablesFrames } from '../test/reference/tables-scenes.ts'

const path = new URL('../test/vectors/tables.json', import.meta.url)
writeFileSync(path, `${JSON.stringify(makeTablesFrames(), null, 1)}\n`)
