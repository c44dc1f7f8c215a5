/**
 * Writes test/vectors/snapshots.json from what the engine does today. The test beside the vectors reads them with a
 * reader of its own: this tool makes bytes, and does not say that they are right.
 */

import { writeFileSync } from 'node:fs'
import { makeScenes } from '../test/reference/snapshot-scenes.ts'

const path = new URL('../test/vectors/snapshots.json', import.meta.url)
writeFileSync(path, `${JSON.stringify(makeScenes(), null, 1)}\n`)
