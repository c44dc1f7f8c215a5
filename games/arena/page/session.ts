/**
 * A match to be in: one that is served somewhere, or one that this very page runs by itself.
 *
 * The game does not know the difference, and nor does the rest of the page.
 */

import { createServerHost, type CloseReason, type InitOf, type Message, type PeerId, type Shape, type View, type ViewOf } from 'tickwire'
import { connect } from 'tickwire/browser'
import { createBot } from '../bots.ts'
import { Chat, Enter, input, Said, Seat } from '../definitions.ts'
import { arenaGame } from '../game.ts'

export type Held = InitOf<typeof input>

export interface Session {
  readonly peer: PeerId
  readonly transport: string
  readonly rttMs: number
  readonly closed: Promise<CloseReason>
  play(play: { input(): Held; draw(view: View): void }): void
  onEvent<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>) => void): void
  send<S extends Shape>(message: Message<S>, values: ViewOf<S>): unknown
  leave(): void
}

const LOCAL_BOTS = 5

/** A match, and how many ticks a second it has. */
export interface Joined {
  readonly session: Session
  readonly tickRate: number
}

/** Joins the match of this page's server. */
export async function joinServed(): Promise<Joined> {
  const response = await fetch('match.json').catch(() => undefined)
  const { tickRate } = response?.ok === true ? await response.json() as { tickRate: number } : { tickRate: 128 }
  return { session: await connect(arenaGame({ tickRate }), location.origin), tickRate }
}

/** Plays here, without a network: the authority runs in this page, and so do the bots. */
export function playLocally(): Joined {
  const host = createServerHost(arenaGame(), { role: 'local', entropy: { fill: (bytes) => { crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>) } } })
  let sample: () => Held = () => ({})
  let close: (reason: CloseReason) => void = () => {}
  let isOver = false
  const listeners = new Map<Message, (values: never) => void>()
  const { id: peer } = host.join(() => sample())
  for (let bot = 0; bot < LOCAL_BOTS; bot++) host.addBot(createBot(bot, host.game.tickRate))
  const seat = () => [...host.world.each(Seat)].find(({ owner }) => owner === peer)
  const session: Session = {
    peer, transport: 'local', rttMs: 0,
    closed: new Promise((resolve) => { close = resolve }),
    play({ input: ask, draw }) {
      sample = ask
      const repaint = (): void => {
        if (isOver) return
        host.tick(performance.now())
        draw(host.draw(performance.now()))
        requestAnimationFrame(repaint)
      }
      requestAnimationFrame(repaint)
    },
    onEvent(message, listener) {
      listeners.set(message as unknown as Message, listener as (values: never) => void)
      host.onEvent(message, listener)
    },
    send(message, values) {
      const mine = seat()
      const said = values as Record<string, unknown>
      if (mine === undefined) return
      if ((message as unknown) === Enter) Object.assign(mine, { name: said.name, isWatching: said.isWatching })
      if ((message as unknown) === Chat) listeners.get(Said as unknown as Message)?.({ name: mine.name, text: said.text } as never)
    },
    leave() {
      isOver = true
      close({ by: 'local', code: 'left' })
    },
  }
  return { session, tickRate: host.game.tickRate }
}
