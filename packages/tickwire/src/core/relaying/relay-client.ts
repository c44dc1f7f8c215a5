/** The connection of one client to a lockstep match, and what a match must not be able to guess. */

import type { Entropy } from '../base/entropy.ts'
import type { PeerId, Tick } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { Sha256 } from '../order/seed-share.ts'
import { encodeSync, type SyncMessage } from '../order/sync-messages.ts'
import type { SyncSource } from '../order/sync-stream.ts'
import type { EndReason } from '../order/tick-event.ts'
import type { TicksSource, TimingFeedback } from '../order/ticks-frame.ts'
import type { OrderRelay } from '../order-relay/order-relay.ts'
import type { FrameSink } from '../packet/frame-source.ts'
import type { Line } from './relay-line.ts'
import type { SuccessionParts } from './succession.ts'

/** Ticks between two reports about the timing of a client's orders. */
export const FEEDBACK_TICKS = 30

/** What a match must not be able to guess, and where it comes from. */
export interface RelaySecrets {
  /** Liveness tokens are made from it. */
  readonly secret: number
  /** The source of random bytes. */
  readonly entropy: Entropy
  /** SHA-256. */
  readonly sha256: Sha256
  /** The keys of this relay and of those that may follow it. Undefined: none follows it. */
  readonly succession?: SuccessionParts | undefined
}

/** The connection of one client. */
export interface Client {
  readonly connection: Connection
  readonly source: TicksSource
  readonly sync: SyncSource
  readonly isObserver: boolean
  /** The newest handle of its line. */
  line: Line<'authenticated'> | Line<'in-lobby'> | Line<'in-game'>
  /** The shortest round trip of this connection, in ms. */
  leastRttMs: number
  /** The tick of the last feedback. */
  feedbackTick: Tick
  /** Whether it waits for a state, and gets no ticks. */
  isHeld: boolean
  /** The tick of the state that is on its way; 0: none is. */
  stateTick: Tick
}

/** Takes the orders of a client. `onTaken`: a frame was taken. */
export function ordersSink(relay: OrderRelay, peer: PeerId, client: Client, onTaken: () => void): FrameSink {
  return {
    accept(now, _sequence, frame) {
      const { line, connection: { rtt } } = client
      const slot = relay.slotOf(peer)
      // An observer has no orders.
      if (client.isObserver) return 'ok'
      // The first packet of a player arrives before its join. The client sends it again: if it were acknowledged, its
      // orders would be lost, and all later ones would wait for them.
      if (slot < 0 || line.stage === 'authenticated') return 'no-ack'
      if (rtt.samples > 0) {
        client.leastRttMs = Math.min(client.leastRttMs, rtt.latestMs)
        relay.setLeastUp(slot, client.leastRttMs / 2)
      }
      const verdict = line.stage === 'in-game' ? line.handleOrders(now, frame) : line.handlePrelude(now, frame)
      if (verdict !== 'ok') return verdict
      client.source.noteExecuted(relay.lastExecuted)
      onTaken()
      return verdict
    },
  }
}

/** What the relay says about the timing of a client's orders. Undefined: it is not time to say it. */
export function feedbackFor(client: Client, newest: Tick): TimingFeedback | undefined {
  if (client.line.stage !== 'in-game' || newest < client.feedbackTick + FEEDBACK_TICKS) return undefined
  client.feedbackTick = newest
  return client.line.takeFeedback()
}

/** Sends a message of the sync stream. A client to which a state is sent gets no ticks until it is released. */
export function sendSync(client: Client, message: SyncMessage): void {
  const isSent = client.sync.send(encodeSync(message))
  if (message.kind !== 'state' && message.kind !== 'continued') return
  client.stateTick = !isSent ? 0 : message.kind === 'state' ? message.tick : message.keep
  if (client.stateTick === 0) client.isHeld = false
}

/** The client has the ticks up to one, and gets those after it. */
export function giveTicks(client: Client, tick: Tick): void {
  client.isHeld = false
  client.source.noteExecuted(tick)
  client.source.wake()
}

/** A client to which a state was sent gets the ticks after it. Those that arrive before it are sent again. */
export function release(client: Client): void {
  if (client.isHeld && client.stateTick > 0 && client.sync.isSent) giveTicks(client, client.stateTick)
}

/** Paths change: the shortest round trip slowly forgets. */
export function forgetRtt(client: Client): void {
  const { smoothedMs } = client.connection.rtt
  if (client.leastRttMs < Infinity) client.leastRttMs += (smoothedMs - client.leastRttMs) / 100
}

/** Why a player leaves the match whose connection has ended. */
export function endReasonOf({ by, code }: CloseReason): EndReason {
  if (code === 'kicked') return 'kicked'
  return by === 'network' ? 'timed-out' : 'left'
}
