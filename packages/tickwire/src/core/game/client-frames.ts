/**
 * The frames of a client's connection, by the role of the client.
 */

import type { ChannelSet } from '../channel/channel-set.ts'
import type { FrameSink, FrameSource } from '../packet/frame-source.ts'
import type { SnapshotSink } from '../replication/snapshot-sink.ts'
import { FRAME_KIND } from './frame-kinds.ts'
import type { FrameRow } from './frame-table.ts'
import { retrainedSink, type TablesSink } from './tables-sink.ts'

/** What a client's connection is assembled from. */
export interface ClientLine {
  readonly inputs: FrameSource
  readonly channels: ChannelSet
  readonly snapshots: SnapshotSink
  readonly tables: TablesSink
  readonly timing: FrameSink
  /** The inputs of the other players. Undefined unless the game predicts all players. */
  readonly peerInputs: FrameSink | undefined
  /** Rows of shared objects that this client simulates. Undefined in games without shared objects. */
  readonly shared: { readonly source: FrameSource; readonly wanted: FrameSink } | undefined
}

type Row = FrameRow<ClientLine>

const inputs: Row = { kind: FRAME_KIND.inputs, sources: ({ inputs }) => [inputs] }
const channels: Row = {
  kind: FRAME_KIND.channels,
  sources: ({ channels }) => channels.sourcesOf(0, 2),
  sink: ({ channels }) => channels,
}
const wantedRows: Row = { kind: FRAME_KIND.wantedRows, sources: ({ snapshots }) => [snapshots.wanted] }
const bulkChannels: Row = { kind: FRAME_KIND.channels, sources: ({ channels }) => channels.sourcesOf(2) }
const snapshots: Row = { kind: FRAME_KIND.snapshot, sink: ({ snapshots }) => snapshots }
const tables: Row = { kind: FRAME_KIND.tables, sink: ({ tables }) => tables }
const retrained: Row = {
  kind: FRAME_KIND.retrained,
  sink: ({ tables, snapshots }) => retrainedSink(tables, snapshots),
}
const timing: Row = { kind: FRAME_KIND.timing, sink: ({ timing }) => timing }
const peerInputs: Row = { kind: FRAME_KIND.peerInputs, sink: ({ peerInputs }) => peerInputs }
const writtenRows: Row = { kind: FRAME_KIND.snapshot, sources: ({ shared }) => shared ? [shared.source] : [] }
const writtenWanted: Row = { kind: FRAME_KIND.wantedRows, sink: ({ shared }) => shared?.wanted }

const STATE: readonly Row[] = [channels, wantedRows, bulkChannels, snapshots, tables, retrained, timing, peerInputs]

export const CLIENT_FRAMES: { readonly [role in 'player' | 'spectator']: readonly Row[] } = {
  player: [inputs, ...STATE, writtenRows, writtenWanted],
  spectator: STATE,
}
