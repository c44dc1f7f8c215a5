/** The players of a match: who is there, how far away, and votes. And the way out: surrender, or leave. */

import type { World } from 'tickwire'
import type { LockstepRoom } from 'tickwire/lockstep'
import { Seat, type SeatObject } from '../definitions.ts'
import { Vote } from '../lobby.ts'
import { Surrender, type ORDERS } from '../orders.ts'
import { button, element, make, setText } from './dom.ts'
import { cssColour, SEAT_NAMES } from './palette.ts'
import type { PeerReports } from './peer-reports.ts'

const LEVELS = ['-', 'easy bot', 'bot', 'hard bot']

export class PlayersPanel {
  readonly #room: LockstepRoom<typeof ORDERS>
  readonly #reports: PeerReports
  readonly #stop = new AbortController()
  /** Indexed by seat. */
  readonly #states = SEAT_NAMES.map(() => make('td'))
  #shown = ''

  /** `onLeave`: the player leaves the match. */
  constructor(room: LockstepRoom<typeof ORDERS>, reports: PeerReports, onLeave: () => void) {
    this.#room = room
    this.#reports = reports
    const { signal } = this.#stop
    element('players').hidden = true
    element('people').addEventListener('click', () => this.toggle(), { signal })
    element('leave').addEventListener('click', () => this.toggle(), { signal })
    element('surrender').addEventListener('click', () => {
      room.order(Surrender, { isSure: true })
      element('players').hidden = true
    }, { signal })
    element('go').addEventListener('click', onLeave, { signal })
  }

  toggle(): void {
    element('players').hidden = !element('players').hidden
  }

  stop(): void {
    this.#stop.abort()
    element('players').hidden = true
  }

  /** `own`: the local seat; `isPlaying`: the match has begun, and is not over. */
  update(world: World, own: number, isPlaying: boolean, now: number): void {
    if (element('players').hidden) return
    const seats = [...world.each(Seat)]
    element('surrender').hidden = !isPlaying || own < 0 || seats[own]?.isOut === true
    setText(element('players-note'), own < 0 ? 'You watch this match.' : seats[own]?.isOut === true
      ? 'You are out. You may watch, or leave.' : 'If you leave, a bot takes your seat.')
    const key = JSON.stringify(seats.map(({ player, name, team, votes }) => [player, name, team, votes, own]))
    // A button that is replaced between press and release is not clicked: only what changes often is set in place.
    if (key !== this.#shown) {
      this.#shown = key
      element('people-rows').replaceChildren(...seats.map((seat) => this.#row(seat, own, seats)))
    }
    seats.forEach((seat) => setText(this.#states[seat.number]!, this.#stateOf(seat, now)))
  }

  #stateOf({ player, level, isOut }: SeatObject, now: number): string {
    if (isOut) return 'out'
    if (player === 0) return LEVELS[level]!
    if (this.#room.runner.roster.isAway(player)) return 'away'
    if (player === this.#room.player) return 'you'
    if (this.#reports.isSilent(player, now)) return 'playing'
    return `${this.#reports.players.get(player)!.rtts.at(-1)} ms`
  }

  #row(seat: SeatObject, own: number, seats: readonly SeatObject[]): HTMLElement {
    const { number, name, player, team, votes } = seat
    const dot = make('i')
    dot.className = 'dot'
    dot.style.background = cssColour(number)
    const others = seats.filter((each) => each.player !== 0 && each.number !== number)
    const needed = Math.max(2, others.length - 1)
    const count = others.filter((each) => (votes >> each.number & 1) === 1).length
    const vote = make('td')
    if (player !== 0 && number !== own && own >= 0 && others.length >= 2) {
      const made = button(`bot instead: ${count} of ${needed}`, () => this.#room.order(Vote, { seat: number }))
      made.title = 'a vote that a bot takes this seat; a second click takes it back'
      vote.append(made)
    }
    const row = make('tr', '', make('td', '', dot, document.createTextNode(name || SEAT_NAMES[number]!)),
      make('td', String(team + 1)), this.#states[number]!, vote)
    row.classList.toggle('own', number === own)
    return row
  }
}
