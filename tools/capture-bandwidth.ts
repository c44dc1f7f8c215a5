/**
 * Plays the battle of docs/guide/examples/bandwidth.ts in both declarations and saves the output of `tickwire
 * bandwidth`: tables beside the example, pictures in docs/pictures. Run it after a change of the codec:
 * `node --conditions=tickwire-source --import tsx tools/capture-bandwidth.ts`.
 */

import { writeFileSync } from 'node:fs'
import { profileBattle, profileCodec, profileRates } from '../test/reference/bandwidth-battle.ts'

for (const name of ['before', 'after'] as const) {
  const { table, picture } = profileBattle(name)
  writeFileSync(new URL(`../docs/guide/examples/bandwidth-${name}.txt`, import.meta.url), table)
  writeFileSync(new URL(`../docs/pictures/bandwidth-${name}.svg`, import.meta.url), picture)
}

writeFileSync(new URL('../docs/guide/examples/bandwidth-entropy.txt', import.meta.url), profileCodec(false))
writeFileSync(new URL('../docs/guide/examples/bandwidth-trained.txt', import.meta.url), profileCodec(true))
writeFileSync(new URL('../docs/guide/examples/bandwidth-rates.txt', import.meta.url), profileRates())
