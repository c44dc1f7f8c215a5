/**
 * A match that the server steps, as the page plays a lockstep match: the same session, hand and panels. The page sends
 * orders, and receives what its team sees.
 */

import type { PeerId, Tick, World } from 'tickwire'
import { connect, type Room } from 'tickwire/browser'
import {
  LocalFeed, LockstepRunner, type FeedDiagnostics, type LockstepOptions, type LockstepPlace, type LockstepRoom,
  type Order, type ServedGame,
} from 'tickwire/lockstep'
import { battlefieldOf } from '../battlefield.ts'
import { Building, Match, Seat } from '../definitions.ts'
import { Chart, fogGame } from '../fog-game.ts'
import { skirmishGame, type SkirmishGame } from '../game.ts'
import { Advance, Attack, type ORDERS } from '../orders.ts'
import { TICK_RATE } from '../rules.ts'
import { FogWorld } from './fog-world.ts'

/** A place for `connect`: the server at a URL steps the match. */
export function fog(url: string): LockstepPlace {
  return {
    async enter(_game, { join, runner }) {
      const game = fogGame()
      const room = await connect(game, url, { ...(join && { join }) })
      const seed = await seedOf(room)
      // The page reads and calls the members of FogRoom only, whatever the place of a match.
      return new FogRoom(game, room, seed, runner) as unknown as LockstepRoom<never>
    },
  }
}

/** Waits for the first snapshots: the seed of the map, the match and its seats. */
async function seedOf(room: Room<Record<never, never>>): Promise<number> {
  let isOver = false
  void room.closed.then(() => { isOver = true })
  for (;;) {
    room.tools.host.draw(performance.now())
    for (const { seed } of room.view.each(Chart))
      for (const _match of room.view.each(Match)) if ([...room.view.each(Seat)].length > 0) return seed
    if (isOver) throw new Error('The server closed the connection.')
    await new Promise((resolve) => { setTimeout(resolve, 30) })
  }
}

type Members = Pick<LockstepRoom<typeof ORDERS>,
  'world' | 'tick' | 'player' | 'players' | 'isAway' | 'isOver' | 'transport' | 'closed' | 'play' | 'leave' | 'onAway'
  | 'onBack' | 'onContinued' | 'diagnostics' | 'pause' | 'resume' | 'setSpeed' | 'seek' | 'send' | 'onMessage'
  | 'runner'>

type Listener = (values: never, state: 'issued' | 'executed') => void

export class FogRoom implements Members {
  readonly closed: Members['closed']
  /** It never steps. Panels read its roster, which is that of a match without pauses. */
  readonly runner: LockstepRunner<typeof ORDERS>
  readonly fogWorld: FogWorld
  readonly #game: ServedGame
  /** The connection to the server that steps the match. */
  readonly server: Room<Record<never, never>>
  readonly #onTick: LockstepOptions['runner']
  readonly #listeners = new Map<string, Set<Listener>>()
  #noted: Tick = -1
  #isOver = false

  constructor(game: ServedGame, room: Room<Record<never, never>>, seed: number, onTick: LockstepOptions['runner']) {
    const rules: SkirmishGame = skirmishGame({ hasLobby: true })
    this.#game = game
    this.server = room
    this.#onTick = onTick
    this.closed = room.closed
    const feed = new LocalFeed({ tickRate: TICK_RATE, seed: Math.max(1, seed), players: 0 })
    this.runner = new LockstepRunner(rules, feed)
    this.fogWorld = new FogWorld(room.view, seed)
    void room.closed.then(() => { this.#isOver = true })
  }

  /** The page reads worlds by `each`, `get`, `count`, `tick` and `seed`, which a FogWorld has. */
  get world(): World {
    return this.fogWorld as unknown as World
  }

  get tick(): Tick {
    return this.fogWorld.tick
  }

  get player(): PeerId {
    return this.server.peer
  }

  get players(): readonly PeerId[] {
    return [...this.fogWorld.each(Seat)].map(({ player }) => player).filter((player) => player !== 0)
  }

  get isAway(): boolean {
    return this.server.isAway
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get transport(): Members['transport'] {
    return this.server.transport
  }

  /** Gives an order. An attack on a building that is only remembered goes to its place. */
  order(kind: Order, values: object): ReturnType<ServedGame['order']> {
    const { units = [], target = 0 } = values as { units?: readonly number[]; target?: number }
    const ghost = kind === (Attack as unknown as Order) && this.fogWorld.isGhost(target)
      ? this.fogWorld.get(Building, target) : null
    if (ghost !== null) return this.order(Advance as unknown as Order, { units, to: ghost.at, isQueued: false })
    const result = this.#game.order(this.server, kind, values as never)
    if (result === 'sent')
      for (const listener of this.#listeners.get(kind.name) ?? []) listener(values as never, 'issued')
    return result
  }

  /** Calls `listener` when an order is given. The server does not report when it was executed. */
  onOrder(kind: { readonly name: string }, listener: Listener): () => void {
    const all = this.#listeners.get(kind.name) ?? new Set()
    this.#listeners.set(kind.name, all.add(listener))
    return () => all.delete(listener)
  }

  play({ draw }: Parameters<Members['play']>[0]): void {
    this.server.play({
      input: () => ({}),
      draw: (view) => {
        if (view.tick !== this.#noted) this.#note(view.tick)
        draw(this.world, view.tick)
      },
    })
  }

  #note(tick: Tick): void {
    this.#noted = tick
    this.fogWorld.note(this.player)
    battlefieldOf(this.world).refresh()
    this.#onTick?.onTick?.(tick, 0, 0)
  }

  diagnostics(): FeedDiagnostics {
    const tick = this.tick
    return {
      rttMs: this.server.rttMs, holdMs: 0, newest: tick, taken: tick, waitingOrders: 0, timing: undefined, corrupted: 0,
    }
  }

  leave(): void {
    this.server.leave()
  }

  onAway(listener: () => void): () => void {
    return this.server.onAway(listener)
  }

  onBack(listener: (seat: 'same' | 'new') => void): () => void {
    return this.server.onBack(listener)
  }

  /** A match that the server steps does not move to another relay. */
  onContinued(): () => void {
    return () => {}
  }

  /** The server's clock is not the players': a match with fog has no pause and one speed. */
  pause(): void {}

  resume(): void {}

  setSpeed(): void {}

  seek(): boolean {
    return false
  }

  send(): 'closed' {
    return 'closed'
  }

  onMessage(): () => void {
    return () => {}
  }
}
