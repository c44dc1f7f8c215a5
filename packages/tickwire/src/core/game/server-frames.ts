/**
 * The frames of a server's connections, by the role of the client.
 */

import { SEND_QUEUES } from '../channel/send-queue.ts'
import { FRAME_KIND } from './frame-kinds.ts'
import type { FrameRow } from './frame-table.ts'
import type { Line } from './match-line.ts'

type Row = FrameRow<Line>

const timing: Row = { kind: FRAME_KIND.timing, sources: ({ timing }) => [timing] }
const peerInputs: Row = { kind: FRAME_KIND.peerInputs, sources: ({ peerInputs }) => peerInputs ? [peerInputs] : [] }

// Messages that must arrive go before snapshots. Voice, chat and bulk share the rest with them, so none starves.
const urgentChannels: Row = {
  kind: FRAME_KIND.channels,
  sources: ({ channels }) => channels.sourcesOf(0, 1),
  sink: ({ channels }) => channels,
}
const snapshots: Row = {
  kind: FRAME_KIND.snapshot,
  sources: ({ snapshots }) => [snapshots],
  weight: SEND_QUEUES.state.weight,
}
const tables: Row = { kind: FRAME_KIND.tables, sources: ({ tables }) => [tables], weight: SEND_QUEUES.bulk.weight }
const talkChannels: Row = {
  kind: FRAME_KIND.channels,
  sources: ({ channels }) => channels.sourcesOf(1, 2),
  weight: SEND_QUEUES.voice.weight + SEND_QUEUES.chat.weight,
}
const bulkChannels: Row = {
  kind: FRAME_KIND.channels,
  sources: ({ channels }) => channels.sourcesOf(2),
  weight: SEND_QUEUES.bulk.weight,
}
const inputs: Row = { kind: FRAME_KIND.inputs, sink: ({ inputSink }) => inputSink }
const wantedRows: Row = { kind: FRAME_KIND.wantedRows, sink: ({ wantedRows }) => wantedRows }

// Rows of shared objects that the player simulates.
const writtenRows: Row = { kind: FRAME_KIND.snapshot, sink: ({ written }) => written }
const rowsWantedHere: Row = {
  kind: FRAME_KIND.wantedRows,
  sources: ({ written }) => written === undefined ? [] : [written.sink.wanted],
}

const STATE: readonly Row[] = [urgentChannels, snapshots, tables, talkChannels, bulkChannels, inputs, wantedRows]

export const SERVER_FRAMES: { readonly [role in Line['role']]: readonly Row[] } = {
  player: [timing, peerInputs, ...STATE, writtenRows, rowsWantedHere],
  spectator: [timing, ...STATE],
}
