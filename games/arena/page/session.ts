/**
 * A match to join: on a server, or run by this page itself.
 *
 * Neither the game nor the rest of the page knows the difference.
 */

import {
  sharedAuthority, type CloseReason, type InitOf, type Message, type PeerId, type Shape, type View, type ViewOf,
} from 'tickwire'
import { createMatchHost } from 'tickwire/engine'
import { connect, withBanner } from 'tickwire/browser'
import { devtoolsOf, type Devtools } from 'tickwire/devtools'
import type { BotLevel } from '../bot-levels.ts'
import { createBot } from '../bots.ts'
import { Chat, input, Rename, Said, Seat } from '../definitions.ts'
import { arenaGame, TICK_RATE } from '../game.ts'

export type Held = InitOf<typeof input>
export type Role = 'player' | 'spectator'

export interface Session {
  readonly peer: PeerId
  readonly role: Role
  readonly transport: string
  readonly rttMs: number
  readonly closed: Promise<CloseReason>
  play(play: { input(): Held; draw(view: View): void; drawGhosts?(truth: View): void }): void
  onEvent<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>) => void): void
  send<S extends Shape>(message: Message<S>, values: ViewOf<S>): unknown
  /** Follows another player. Resolves to the player that the spectator follows now. */
  spectate(whom: 'next' | 'previous'): Promise<PeerId>
  /** Calls `listener` when the page has reconnected: to its seat, or as a new player. */
  onBack(listener: (seat: 'same' | 'new') => void): unknown
  leave(): void
  /** The overlay that shows the network; undefined in a match without one. */
  readonly overlay?: Devtools | undefined
}

const LOCAL_BOTS = 5

/** A match, and its tick rate. */
export interface Joined {
  readonly session: Session
  readonly tickRate: number
}

/** Simulated network conditions of a developer's page, in each direction. */
export interface PageWeather {
  readonly latencyMs: number
  readonly jitterMs: number
  readonly loss: number
}

/** Joins the match of this page's server, with simulated network conditions if given. */
export async function joinServed(role: Role, name: string, weather: PageWeather | undefined): Promise<Joined> {
  // A link with a code leads to a player's machine, which serves no page: the tick rate is in its address.
  const isCode = /-[0-9A-Z]{16}$/i.test(location.hash)
  const tickRate = isCode
    ? Number(new URLSearchParams(location.search).get('tick') ?? TICK_RATE) : await servedTickRate()
  const options = {
    authority: sharedAuthority,
    ...(role === 'spectator' ? { join: { role }, keepSeat: false } : { data: { name } }),
  }
  // The menu says why a match could not be joined, or is over.
  const joining = connect(arenaGame({ tickRate }), isCode ? location.href : location.origin, options)
  const room = await withBanner(joining, { isEndShown: false })
  const overlay = devtoolsOf(room as unknown as Parameters<typeof devtoolsOf>[0])
  if (weather !== undefined) overlay.setWeather(weather)
  return { session: Object.assign(room, { role, overlay }), tickRate }
}

async function servedTickRate(): Promise<number> {
  const response = await fetch('tickwire/game').catch(() => undefined)
  return Number(/^tickRate (\d+)$/m.exec(await response?.text() ?? '')?.[1] ?? TICK_RATE)
}

/** Plays without a network: the authority and the bots run in this page. */
export function playLocally(role: Role, playerName: string, level: BotLevel): Joined {
  const { rooms, host } = createMatchHost(arenaGame(), {
    role: 'local',
    entropy: {
      fill: (bytes) => {
        crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>)
      },
    },
  })
  const { tickRate } = host.game
  let sample: () => Held = () => ({})
  let close: (reason: CloseReason) => void = () => {}
  let isOver = false
  let name = playerName
  const listeners = new Map<Message, (values: never) => void>()
  const peer = role === 'player' ? host.join(() => sample()).id : 0
  const bots = Array.from({ length: LOCAL_BOTS }, (_, seed) => host.addBot(createBot(seed, tickRate, level)).id)
  let followed = -1
  const session: Session = {
    peer, role, transport: 'local', rttMs: 0,
    closed: new Promise((resolve) => { close = resolve }),
    play({ input: ask, draw }) {
      sample = ask
      const repaint = (): void => {
        if (isOver) return
        rooms.tick(performance.now())
        if (name !== '') for (const seat of host.world.each(Seat)) if (seat.owner === peer) seat.name = name
        draw(host.draw())
        requestAnimationFrame(repaint)
      }
      requestAnimationFrame(repaint)
    },
    onEvent(message, listener) {
      listeners.set(message as unknown as Message, listener as (values: never) => void)
      host.onEvent(message, listener)
    },
    send(message, values) {
      const said = values as Record<string, unknown>
      if ((message as unknown) === Rename) name = String(said.name)
      if ((message as unknown) === Chat) listeners.get(Said as unknown as Message)?.({ name, text: said.text } as never)
    },
    spectate: (whom) => {
      followed = (followed + (whom === 'next' ? 1 : bots.length - 1)) % bots.length
      return Promise.resolve(bots[followed] ?? 0)
    },
    onBack: () => {},
    leave() {
      isOver = true
      close({ by: 'local', code: 'left' })
    },
  }
  return { session, tickRate }
}
