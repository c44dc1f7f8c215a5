/** Recordings of all three kinds, served by the inspector: of a player, of a server, and of a lockstep match. */

import { openRecording, sourceOf } from 'tickwire'
import { ClientRecorder, MemorySink, type ClientHost } from 'tickwire/engine'
import { simulate } from 'tickwire/testing'
import { serveSource, type ServedInspection } from '../../packages/tickwire/src/cli/inspect-page.ts'
import { openInspectSource } from '../../packages/tickwire/src/cli/inspect-source.ts'
import { game, wind } from '../browser-pages/devtools-game.ts'
import { playRecorded } from '../sim/replay-party.ts'

/** A match in simulated time: the recording of its player, in which one prediction is wrong, and of its server. */
function recordGame(): { readonly player: Uint8Array; readonly server: Uint8Array } {
  const sim = simulate(game, { seed: 2, clients: 2, link: { latencyMs: 30 } })
  const sink = new MemorySink()
  const recorder = new ClientRecorder(sim.players[0]!.host as unknown as ClientHost, sink)
  const server = sim.host.record()
  sim.hold(0, { right: true })
  sim.run(800)
  // Only the server knows it.
  wind.x = 30
  sim.run(800)
  recorder.close()
  return { player: sink.bytes(), server: server.save()! }
}

async function serve(bytes: Uint8Array, name: string): Promise<ServedInspection> {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') throw new Error(recording)
  return await serveSource(openInspectSource(recording, name), 0)
}

interface ServedRecordings {
  readonly player: ServedInspection
  readonly server: ServedInspection
  readonly match: ServedInspection
}

/** Serves the inspector for each of them. */
export async function serveRecordings(): Promise<ServedRecordings> {
  const { player, server } = recordGame()
  const { recorder, sink, party } = playRecorded(15)
  recorder.close(party.clock.now)
  return {
    player: await serve(player, 'player.twr'),
    server: await serve(server, 'server.twr'),
    match: await serve(sink.bytes(), 'match.twr'),
  }
}
