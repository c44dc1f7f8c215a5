/**
 * Writes test/vectors/recording.json: recordings of small matches and what the reader written from
 * docs/wire/RECORDING.md makes
 * of them. Run it when the format or the packed codec has changed, and read the difference: 
 * `node --conditions=tickwire-source --import tsx tools/gen-vectors-recording.ts`.
 */

import { writeFileSync } from 'node:fs'
import { readRecording } from '../test/reference/recording-checker.ts'
import { SCENES } from '../test/reference/recording-scenes.ts'

const vectors = Object.entries(SCENES).map(([name, make]) => {
  const file = make()
  return { name, file: Buffer.from(file).toString('hex'), meaning: readRecording(file) }
})
writeFileSync(
  new URL('../test/vectors/recording.json', import.meta.url),
  `[\n${vectors.map((vector) => `  ${JSON.stringify(vector)}`).join(',\n')}\n]\n`,
)
