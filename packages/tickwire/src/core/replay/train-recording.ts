/**
 * Learns a game's habits from a recorded match: priors for `entropy(priors)`, by entity name.
 *
 * Every row that changed is shown against rows of several ages, as snapshots on paths of different length tell it; who is born,
 * against the initial row. The match is played three times (`codec/training.ts` says why), so that memory is that of a window.
 *
 * It learns everyone's, the team's and the owner's fields, as far as the recording has them. Measure on another match than this.
 */

import { ConfigError } from '../base/assert.ts'
import { RowPair } from '../codec/row-coder.ts'
import type { Priors } from '../codec/snapshot-codec.ts'
import { train } from '../codec/training.ts'
import { Timeline } from '../world/timeline.ts'
import { playAll } from './bandwidth-table.ts'
import { Playback, type RecordedGame } from './playback.ts'
import type { ChunkList } from './recording.ts'

/** Ages that are shown, in ticks: one of each class up to a sixth of a second at 60 ticks. */
const AGES: readonly number[] = [1, 3, 6, 10]
/** Fewer rows than this teach nothing that built-in tables do not know. */
const ROWS_MIN = 200

/** What training found, and from how much. */
export interface Training {
  readonly priors: Priors
  /** Rows that changed, by entity name; also of those that changed too seldom to learn from. */
  readonly rows: { readonly [entity: string]: number }
}

/** Learns from a recording. `version` tells these priors from others, 1 and more. */
export function trainRecording(list: ChunkList, game: RecordedGame, version: number): Training {
  const names = game.entities.map(({ schema }) => schema.name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new ConfigError('entities', `two are called "${twice}"`, "Name them: entity(shape, { name: 'Player' }), and record again.")
  const priors: { [entity: string]: Priors[string] } = {}
  const rows: { [entity: string]: number } = {}
  for (const [type, { schema }] of game.entities.entries()) {
    let count = 0
    showRows(list, game, type, ({ age }) => { if (age <= 1) count++ })
    rows[schema.name] = count
    if (count >= ROWS_MIN) priors[schema.name] = train(schema, list.head.tickRate, version, (see) => showRows(list, game, type, see))
  }
  return { priors, rows }
}

function showRows(list: ChunkList, game: RecordedGame, type: number, see: (pair: RowPair) => void): void {
  const playback = new Playback(list, game)
  const { world } = playback
  const windowTicks = Math.max(...AGES) + 2
  let timeline = new Timeline(world, windowTicks)
  const pair = new RowPair()
  const store = world.stores[type]
  playAll(playback, (isGap) => {
    if (isGap) {
      world.dropValuesOf(timeline)
      timeline = new Timeline(world, windowTicks)
    }
    timeline.sample()
    const { tick } = playback
    const { rows } = timeline.pools[type]
    for (const { id } of store.living()) {
      const before = timeline.find(type, id, tick - 1)
      pair.rows = rows
      pair.at = timeline.find(type, id, tick)
      if (before === pair.at) continue
      if (before < 0) {
        Object.assign(pair, { baseRows: store.schema.initialRow, baseAt: 0, age: 0, olderAt: -1 })
        see(pair)
        continue
      }
      for (const age of AGES) {
        const baseAt = timeline.find(type, id, tick - age)
        if (baseAt < 0) continue
        Object.assign(pair, { baseRows: rows, baseAt, age, olderRows: rows, olderAt: timeline.find(type, id, tick - age - 1) })
        see(pair)
      }
    }
  })
}
