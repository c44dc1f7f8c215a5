/** The rules of a room with a lockstep match, and those of ranked matches. */

import type { Tick } from '../base/time.ts'
import type { DesyncReport } from '../order/desync-report.ts'
import type { LockstepCard } from '../order/lockstep-card.ts'
import type { Root } from '../order/sync-messages.ts'
import type { TickLog } from '../order/tick-log.ts'
import { RANKED_RELAY, type RelayOptions } from '../order-relay/relay-options.ts'
import type { RelayNotice } from '../order-relay/relay-watch.ts'
import type { RoomRules } from '../rooms/room-rules.ts'
import type { AgreedState, RecordedMatch, RelayRecorder } from './match-keeping.ts'

/** The rules of a room with a lockstep match. */
export interface RelayRoomType extends RoomRules {
  /** The card of the game. A `LockstepGame` is one. */
  readonly game: LockstepCard
  /** Settings of the relay that differ from the defaults: `RANKED_ROOM` has those of ranked matches. */
  readonly relay?: Partial<Omit<RelayOptions, 'tickRate' | 'players' | 'secret' | 'seed'>>
  /** 'agreed': all players and the relay add to the seed, and none of them can choose it. Default: 'room'. */
  readonly seed?: 'room' | 'agreed'
  /** Observers receive ticks this many ticks later. Default: 60. */
  readonly observerDelayTicks?: number
  /** A player with too many strikes (`relay.strikesMax`) is reported, or removed. Default: 'report'. */
  readonly lagging?: 'report' | 'drop'
  /** The relay noticed something about a player. */
  readonly onNotice?: (notice: RelayNotice) => void
  /** States of players differed. The report has what every player and the relay know. */
  readonly onDesync?: (report: DesyncReport) => void
  /** Decides which state is right when none has a majority. Default: none; see `relay.desync.tie`. */
  readonly referee?: Referee
  /**
   * What becomes of a match whose relay is lost, if the host has other `relays`: it goes on there, or is void. Default:
   * 'continue'.
   */
  readonly handover?: 'continue' | 'void'
  /** Makes a recorder for a match. Default: matches are not recorded. */
  readonly record?: (match: RecordedMatch) => RelayRecorder
}

/** A program with the game, which steps it to decide which state is right. */
export interface Referee {
  /**
   * The hash of the state after a tick of the log. Undefined: it cannot be known. `agreed`: the last state on which the
   * players agreed, half a minute old at most. Undefined: there is none yet.
   */
  judge(
    seed: number, log: TickLog, tick: Tick, agreed?: AgreedState,
  ): Root | undefined | Promise<Root | undefined>
}

/** The rules of ranked matches: no player has an advantage by its line, and none can choose the seed. */
export const RANKED_ROOM: Required<Pick<RelayRoomType, 'relay' | 'seed' | 'lagging' | 'handover'>> = {
  relay: RANKED_RELAY, seed: 'agreed', lagging: 'drop', handover: 'void',
}
