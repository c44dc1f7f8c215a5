/**
 * The lobby: seats, teams, bots, map, speed, seed, ready. All that it shows is in the world or in the ticks,
 * and all that it does is an order or a request to the relay.
 */

import type { World } from 'tickwire'
import { seedSharesOf, type LockstepRoom } from 'tickwire/lockstep'
import { Match, Seat } from '../definitions.ts'
import { ChooseMap, COUNTDOWN, Ready, SetUp, Sit } from '../lobby.ts'
import type { ORDERS } from '../orders.ts'
import { SEATS, TICK_RATE } from '../rules.ts'
import { button, element, make, setText } from './dom.ts'
import { MapChoice } from './map-choice.ts'
import { cssColour, SEAT_NAMES } from './palette.ts'

const LEVELS = ['empty', 'easy', 'normal', 'hard']
/** Speeds of a match, in percent. */
const SPEEDS = [50, 75, 100, 125, 150, 200]

export class LobbyPanel {
  readonly #room: LockstepRoom<typeof ORDERS>
  readonly #stop = new AbortController()
  readonly #maps: MapChoice
  #shown = ''
  #seed = ''

  constructor(room: LockstepRoom<typeof ORDERS>) {
    this.#room = room
    this.#maps = new MapChoice((kind) => room.order(ChooseMap, { kind }))
    const { signal } = this.#stop
    element('ready').addEventListener('click', () => {
      const own = [...room.world.each(Seat)].find(({ player }) => player === room.player)
      if (own !== undefined) room.order(Ready, { isReady: !own.isReady })
    }, { signal })
    element('lobby-leave').addEventListener('click', () => room.leave(), { signal })
    const speed = element<HTMLSelectElement>('speed')
    speed.replaceChildren(...SPEEDS.map((percent) => {
      const option = make('option', `${percent} %`)
      option.value = String(percent)
      return option
    }))
    speed.addEventListener('change', () => room.setSpeed(Number(speed.value) / 100), { signal })
    const bots = element<HTMLSelectElement>('bots')
    bots.replaceChildren(...['mixed', ...LEVELS].map((name, at) => new Option(name, String(at - 1))))
    bots.options[0]!.hidden = true
    bots.addEventListener('change', () => this.#setBots(Number(bots.value)), { signal })
  }

  /** Sets the level of all bots. */
  #setBots(level: number): void {
    for (const { number, player, team } of this.#room.world.each(Seat))
      if (player === 0) this.#room.order(SetUp, { seat: number, team, level })
  }

  stop(): void {
    this.#stop.abort()
    element('lobby').hidden = true
  }

  /** `isLoaded`: this page has drawn the map. A page that has not cannot be ready: the others wait. */
  update(world: World, isLoaded: boolean): void {
    const [match] = [...world.each(Match)]
    const isLobby = match !== undefined && match.beganAt === 0
    element('lobby').hidden = !isLobby
    if (!isLobby) return
    const seats = [...world.each(Seat)]
    const own = seats.find(({ player }) => player === this.#room.player && player !== 0)
    const readyButton = element<HTMLButtonElement>('ready')
    readyButton.hidden = own === undefined
    readyButton.disabled = !isLoaded
    readyButton.classList.toggle('is-ready', own?.isReady === true)
    setText(readyButton, own?.isReady === true ? 'Not ready' : 'Ready')
    const left = match.readyAt === 0 ? 0 : Math.ceil((match.readyAt + COUNTDOWN - world.tick) / TICK_RATE)
    const waiting = seats.filter(({ player, isReady }) => player !== 0 && !isReady).length
    setText(element('lobby-note'), left > 0 ? `The match begins in ${left}` : own?.isReady === true
      ? `Waiting for ${waiting} ${waiting === 1 ? 'player' : 'players'}.`
      : 'Bots take the seats of others: choose how strong they are. Press Ready to begin. '
        + 'Friends join at this address.')
    const speed = element<HTMLSelectElement>('speed')
    speed.disabled = own === undefined
    const percent = String(this.#room.runner.roster.speedPercent)
    if (document.activeElement !== speed && speed.value !== percent) speed.value = percent
    const bots = element<HTMLSelectElement>('bots')
    bots.disabled = own === undefined
    const levels = new Set(seats.filter(({ player }) => player === 0).map(({ level }) => level))
    const level = String(levels.size === 1 ? [...levels][0] : -1)
    if (document.activeElement !== bots && bots.value !== level) bots.value = level
    this.#showSeed(world)
    this.#maps.update(world, own !== undefined)
    const key = JSON.stringify([own?.number, seats.map(({ player, name, team, level, isReady }) =>
      [player, name, team, level, isReady])])
    if (key === this.#shown) return
    this.#shown = key
    element('seats').replaceChildren(...seats.map((seat) => this.#row(seat, own?.number ?? -1)))
  }

  /** The seed, and the shares that it was made of. */
  #showSeed(world: World): void {
    const shares = seedSharesOf(this.#room.runner.feed.log)
    const seed = world.seed.toString(16)
    const drawn = this.#room.transport === 'none' ? 'drawn by this page' : 'drawn by the server'
    const made = shares.length === 0 ? drawn : `agreed by ${shares.length}`
    setText(element('lobby-map'), `Seed ${seed}, ${made}`)
    const key = JSON.stringify([seed, shares.length])
    if (key === this.#seed) return
    this.#seed = key
    element('shares').hidden = shares.length === 0
    element('share-rows').replaceChildren(...shares.map(({ player, commit, reveal }) => make('tr', '',
      make('td', player === 0 ? 'relay' : `player ${player}`), make('td', short(commit)), make('td', short(reveal)))))
  }

  #row(seat: { number: number; player: number; name: string; team: number; level: number; isReady: boolean },
    own: number): HTMLElement {
    const { number, player, name, team, level, isReady } = seat
    const dot = make('i')
    dot.className = 'dot'
    dot.style.background = cssColour(number)
    const teams = choice(Array.from({ length: SEATS }, (_, each) => String(each + 1)), team, (value) =>
      this.#room.order(SetUp, { seat: number, team: value, level }))
    teams.disabled = own < 0 || (player !== 0 && number !== own)
    const levels = choice(LEVELS, level, (value) => this.#room.order(SetUp, { seat: number, team, level: value }))
    levels.disabled = own < 0 || player !== 0
    teams.setAttribute('aria-label', `team of ${SEAT_NAMES[number]!}`)
    levels.setAttribute('aria-label', `bot of ${SEAT_NAMES[number]!}`)
    const present = name === '' ? 'loading' : `${name}${isReady ? ' ✓' : ''}`
    const shown = player === 0 ? (level === 0 ? '-' : 'bot') : present
    const row = make('tr', '', make('td', '', dot, document.createTextNode(SEAT_NAMES[number]!)), make('td', shown),
      make('td', '', teams), make('td', '', player === 0 ? levels : document.createTextNode('')),
      make('td', '', ...(player === 0 && own >= 0
        ? [button('sit', () => this.#room.order(Sit, { seat: number }))] : [])))
    row.classList.toggle('own', number === own)
    return row
  }
}

/** The first bytes, as hexadecimal digits. */
function short(bytes: Uint8Array): string {
  return `${[...bytes.subarray(0, 6)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}…`
}

function choice(names: readonly string[], chosen: number, onChange: (value: number) => void): HTMLSelectElement {
  const made = make('select', '', ...names.map((name, value) => {
    const option = make('option', name)
    option.value = String(value)
    option.selected = value === chosen
    return option
  }))
  made.addEventListener('change', () => onChange(Number(made.value)))
  return made
}
