/**
 * The code of docs/guide/recording.md. It is compiled with the tests and run by test/reference/recording-docs.test.ts.
 */

import { Playback, RecordingRing, Theatre, type Match, type Recorder } from 'tickwire'
import { Timeline } from 'tickwire/engine'
import { createRecordingFile, openRecordingFile } from 'tickwire/node'
import { game, Player } from './first-game/game.ts'

// #region record
/** Records a match to a file, from now until `stop` is called. */
export function recordMatch(host: Match, path: string): { stop(): void } {
  const file = createRecordingFile(path)
  const recorder = host.record(file, { startedAt: Math.floor(Date.now() / 1000) })
  recorder.note('mark', 0, 'round 1')
  return {
    stop() {
      recorder.close()
      file.close()
    },
  }
}
// #endregion

// #region play
/** Where every player was at a moment of a recording. */
export function placesAt(path: string, tick: number): readonly { x: number; y: number }[] {
  const opened = openRecordingFile(path)
  if (typeof opened === 'string') throw new Error(`${path}: ${opened}`)
  try {
    const playback = new Playback(opened.recording, game)
    if (playback.seek(tick) !== 'ok') return []
    return [...playback.world.each(Player)].map(({ x, y }) => ({ x, y }))
  } finally {
    opened.close()
  }
}
// #endregion

// #region show
/** Shows a recording on a loop of draws: `seconds` into it, at any speed. */
export function showRecording(
  theatre: Theatre,
  seconds: number,
  draw: (players: Iterable<{ readonly x: number; readonly y: number }>) => void,
): void {
  const first = theatre.playback.first
  if (theatre.show(first + seconds * game.tickRate) === 'ok') draw(theatre.view.each(Player))
}
// #endregion

// #region ring
/** Keeps the last half minute of a match, so that a highlight can be saved. */
export class Highlights {
  readonly #ring = new RecordingRing({ windowMs: 30_000 })
  readonly recorder: Recorder

  constructor(host: Match) {
    this.recorder = host.record(this.#ring, { fields: 'all' })
  }

  /** A whole recording, as bytes. */
  save(): Uint8Array {
    return this.#ring.save()
  }
}
// #endregion

// #region late
/** The match as it was some ticks ago: its Timeline can be replicated, drawn and rewound like the one of the server. */
export class LateMatch {
  readonly #ring = new RecordingRing()
  readonly #past: Playback
  readonly timeline: Timeline
  readonly #delayTicks: number

  constructor(host: Match, delayTicks: number) {
    host.record(this.#ring, { fields: 'all' })
    this.#delayTicks = delayTicks
    this.#past = new Playback(this.#ring, game)
    this.timeline = new Timeline(this.#past.world, 30)
  }

  /** Advances to the current tick of the match minus the delay. */
  follow(tick: number): void {
    while (this.#past.tick < tick - this.#delayTicks && this.#past.step() === 'ok') this.timeline.sample()
  }
}
// #endregion
