/**
 * The lines of a match: one for each connected client, from `attach` to `detach`.
 */

import type { PeerId } from '../base/time.ts'
import type { UserCode } from '../base/user-code.ts'
import type { Connection } from '../connection/connection.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { ClientInterest } from '../replication/interest/client-interest.ts'
import type { Interest } from '../replication/interest/interest.ts'
import type { Replicator } from '../replication/replicator.ts'
import { wantedSink } from '../replication/receive/wanted-rows.ts'
import { SnapshotSource } from '../replication/snapshot-source.ts'
import type { Shape } from '../schema/field.ts'
import { InputBuffer } from '../time/input-buffer.ts'
import { PeerInputsSource } from '../time/peer-inputs.ts'
import { TimingSource, type TickPosition } from '../time/timing-frame.ts'
import type { Authority } from './authority.ts'
import type { CallDesk } from './call-desk.ts'
import type { Peer } from './define-game.ts'
import { EventMail } from './event-mail.ts'
import { FRAME_KIND } from './frame-kinds.ts'
import { addFrames } from './frame-table.ts'
import { GuardedSource } from './guarded-source.ts'
import type { MatchCounting } from './match-counters.ts'
import type { Line } from './match-line.ts'
import { limitMessages, type MessageDesk } from './message-desk.ts'
import { PacedSource } from './paced-source.ts'
import type { Retraining } from './retraining.ts'
import { SERVER_FRAMES } from './server-frames.ts'
import type { Spectators } from './spectators.ts'

/** The state that a client is sent: of the match, or of the delayed feed of spectators. */
interface Sent {
  readonly replicator: Replicator
  readonly interest: Interest
  readonly position: TickPosition
  readonly isLate: boolean
}

/** The parts of a match that lines connect to. */
export interface LineParts {
  readonly authority: Authority<Shape>
  readonly desk: MessageDesk<Peer>
  readonly calls: CallDesk<Peer>
  readonly spectators: Spectators
  readonly replicator: Replicator
  readonly interest: Interest
  readonly retraining: Retraining
  readonly position: TickPosition
  readonly counting: MatchCounting
  readonly code: UserCode
  readonly bytesPerSecond: (peer: Peer) => number
}

export class MatchLines {
  /** Keyed by peer id. */
  readonly byPeer: Map<PeerId, Line> = new Map<PeerId, Line>()
  readonly #parts: LineParts

  constructor(parts: LineParts) {
    this.#parts = parts
  }

  /** Connects a new client, or one that has resumed its seat. */
  attach(connection: Connection, peer: Peer, role: Line['role']): void {
    const line = this.#create(connection, peer, role)
    this.byPeer.set(peer.id, line)
    addFrames(connection, line, SERVER_FRAMES[role])
  }

  /** The connection is lost. The player stays with empty inputs until it is attached again or leaves. */
  detach(peer: PeerId): void {
    const line = this.byPeer.get(peer)
    if (line === undefined) return
    const { authority, counting, retraining, spectators } = this.#parts
    line.channels.release()
    line.calls.close()
    counting.handleEnded(line)
    this.byPeer.delete(peer)
    authority.shared?.detach(peer)
    retraining.detach(peer)
    spectators.remove(peer)
    authority.idle(line.player)
  }

  #create(connection: Connection, peer: Peer, role: Line['role']): Line {
    const { authority, desk, calls: callDesk, spectators, retraining, code } = this.#parts
    const { game, inputs: { heap }, digests, shared } = authority
    const isSpectator = role === 'spectator'
    const sent = this.#sentTo(role)
    const channels = desk.routes.createChannels()
    const inputs = new InputBuffer(game.inputSchema, heap, this.#parts.position)
    const calls = callDesk.createLine(peer, peer.id, channels, isSpectator ? spectators.handlers : undefined)
    const interest = new ClientInterest(sent.interest, peer.id)
    const deliver = isSpectator ? undefined : (tick: number): boolean => calls.deliver(tick)
    const player = authority.seat(peer, inputs, deliver, isSpectator)
    digests.add(peer.id)
    const predicts = game.predict !== 'none' && !isSpectator
    const snapshots = new SnapshotSource(sent.replicator, interest, peer.id, {
      bytesPerSecond: this.#parts.bytesPerSecond(peer),
      tickRate: game.tickRate / game.snapshotTicks,
    })
    return {
      role,
      player,
      connection,
      inputs,
      channels,
      calls,
      messages: limitMessages(game.tickRate),
      interest,
      events: new EventMail(peer.id, interest, game.tickRate, (event) => desk.sendEvent(channels, event)),
      isLate: sent.isLate,
      timing: new TimingSource(sent.position, inputs, () => (predicts ? digests.of(peer.id) : NaN)),
      peerInputs: game.predict === 'all'
        ? new PeerInputsSource(game.inputSchema, heap, authority, peer.id, game.snapshotTicks)
        : undefined,
      snapshots: new GuardedSource(this.#pace(snapshots, sent), (error) => code.break('interest', error, peer.id)),
      tables: retraining.attach(peer.id, sent.replicator, snapshots, () =>
        connection.changeKind(FRAME_KIND.snapshot, FRAME_KIND.retrained),
      ),
      inputSink: isSpectator ? spectators.add(peer.id, interest, calls) : inputs,
      wantedRows: wantedSink((id) => snapshots.handleWanted(id)),
      written: isSpectator ? undefined : shared?.attach(peer.id),
    }
  }

  #sentTo(role: Line['role']): Sent {
    const { replicator, interest, position, spectators } = this.#parts
    const { feed } = spectators
    return role === 'spectator' && feed !== undefined
      ? { replicator: feed.replicator, interest: feed.interest, position: spectators, isLate: true }
      : { replicator, interest, position, isLate: false }
  }

  /** Snapshots at the rate of the game. */
  #pace(snapshots: SnapshotSource, { replicator }: Sent): FrameSource {
    const { snapshotTicks } = this.#parts.authority.game
    return snapshotTicks === 1
      ? snapshots
      : new PacedSource(snapshots, snapshotTicks, () => replicator.timeline.newest)
  }
}
