import { describe, expect, test } from 'vitest'
import type { Connection } from '../connection/connection.ts'
import type { FrameSink, FrameSource } from '../packet/frame-source.ts'
import { CLIENT_FRAMES } from './client-frames.ts'
import { FRAME_KIND } from './frame-kinds.ts'
import { addFrames, type FrameRow } from './frame-table.ts'
import { SERVER_FRAMES } from './server-frames.ts'

const source = {} as FrameSource
const sink = {} as FrameSink

/** What was added to a connection, in order. */
function added<L>(line: L, table: readonly FrameRow<L>[]): string[] {
  const calls: string[] = []
  const connection = {
    addSource: (kind: number, _source: FrameSource, weight = 0) => calls.push(`source ${kind} ${weight}`),
    addSink: (kind: number) => calls.push(`sink ${kind}`),
  }
  addFrames(connection as unknown as Connection, line, table)
  return calls
}

describe('a table of frames', () => {
  test('adds sources in the order of its rows, with their weights, and skips rows without one', () => {
    const calls = added({ has: false }, [
      { kind: 4, sources: () => [source, source], weight: 2 },
      { kind: 5, sources: ({ has }) => (has ? [source] : []), sink: ({ has }) => (has ? sink : undefined) },
      { kind: 6, sink: () => sink },
    ])
    expect(calls).toEqual(['source 4 2', 'source 4 2', 'sink 6'])
  })

  test('each role receives what the other side sends to it', () => {
    const kindsOf = (rows: readonly FrameRow<never>[], side: 'sources' | 'sink'): number[] =>
      [...new Set(rows.filter((row) => row[side] !== undefined).map(({ kind }) => kind))].sort((a, b) => a - b)
    for (const role of ['player', 'spectator'] as const) {
      const server = SERVER_FRAMES[role] as readonly FrameRow<never>[]
      const client = CLIENT_FRAMES[role] as readonly FrameRow<never>[]
      const fromServer = kindsOf(server, 'sources')
      // A snapshot becomes `retrained` when its client has other tables.
      expect(kindsOf(client, 'sink')).toEqual(expect.arrayContaining([...fromServer, FRAME_KIND.retrained]))
      expect(kindsOf(server, 'sink')).toEqual(expect.arrayContaining(kindsOf(client, 'sources')))
    }
  })

  test('[SPEC2] a spectator sends no inputs and no rows', () => {
    const sent = CLIENT_FRAMES.spectator.filter(({ sources }) => sources !== undefined).map(({ kind }) => kind)
    expect(sent).not.toContain(FRAME_KIND.inputs)
    expect(sent).not.toContain(FRAME_KIND.snapshot)
  })
})
