/** What the inspector's page asks for, from a recording of a player, of a server, or of a lockstep match. */

import { Inspection } from '../core/game/inspection/inspection.ts'
import { recordingKind } from '../core/game/inspection/recording-kind.ts'
import { WIRE_FIELDS } from '../core/game/dissection/wire-fields.ts'
import { CHUNK } from '../core/replay/chunk.ts'
import { MatchFile } from '../core/replay/match-file.ts'
import type { Recording } from '../core/replay/recording.ts'

/** Answers the requests of the page. Undefined: there is no such thing. */
export interface InspectSource {
  answer(path: string, number: number): unknown
}

/** The source of a recording. Throws RangeError when it cannot be read without its game. */
export function openInspectSource(recording: Recording, name: string, authority?: Recording): InspectSource {
  return recordingKind(recording) === 'match'
    ? matchSource(new MatchFile(recording), name)
    : inspectionSource(new Inspection(recording, authority === undefined ? {} : { authority }), name)
}

/** The source of an inspection. */
export function inspectionSource(inspection: Inspection, name: string): InspectSource {
  return {
    answer(path, number) {
      const { kind, game, peer, first, last, mistakes, events } = inspection
      const mistake = mistakes[number]
      switch (path) {
        case '/api/summary':
          return { kind, name, tickRate: game.tickRate, peer, first, last, mistakes, events, fields: WIRE_FIELDS }
        case '/api/packets': return inspection.packets()
        case '/api/packet': return inspection.packet(number)
        case '/api/tick': return inspection.at(number)
        case '/api/why': return mistake && inspection.explain(mistake)
        default: return undefined
      }
    },
  }
}

/** A lockstep match has ticks and no worlds: those follow from the game. */
function matchSource(file: MatchFile, name: string): InspectSource {
  const { recording, stretches, seals, gaps, playerSeals, handover, problems } = file
  const { tickRate } = recording.head
  const lasts = stretches.map(({ first, log }) => first + log.newest - 1)
  const [first, last] = [stretches[0]?.first ?? 0, Math.max(0, ...lasts)]
  const facts = {
    'Ticks': `${first} to ${last}, ${((last - first + 1) / tickRate).toFixed(1)} s at ${tickRate} a second`,
    'Missing ticks': gaps.length === 0 ? 'none' : gaps.map(({ first: from, digests }) => (
      `${from} to ${from + digests.length - 1}`)).join(', '),
    'Seals of the relay': `${seals.length}`,
    'Players that signed their orders': `${new Set(playerSeals.map(({ player }) => player)).size}`,
    'Images of the world': `${recording.chunks.filter(({ type }) => type === CHUNK.image).length}`,
    'Taken over from another relay': handover === undefined ? 'no' : 'yes',
    'Problems': problems.length === 0 ? 'none' : problems.join('; '),
  }
  const summary = { kind: 'match', name, tickRate, first, last, facts }
  return { answer: (path) => (path === '/api/summary' ? summary : undefined) }
}
