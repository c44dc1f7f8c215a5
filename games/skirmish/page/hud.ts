/** What stands around the battlefield: crystals, units, the selection, buttons, chat. */

import type { World } from 'tickwire'
import { Building, Line, Match, Seat, Unit } from '../definitions.ts'
import { BUILDINGS, STORM_AT, TICK_RATE, UNITS, UNITS_PER_SEAT } from '../rules.ts'
import type { Command } from './commands.ts'
import { clock, element, make, setText } from './dom.ts'
import type { Hand } from './hand.ts'
import { cssColour, SEAT_NAMES } from './palette.ts'

/** Ticks for which a line of chat is shown. */
const SHOWN_TICKS = 10 * TICK_RATE
/** For so long a short message is shown. */
const SAID_MS = 3500
const NEWS_MS = 6000

export class Hud {
  readonly #hand: Hand
  #commands = ''
  #card = ''
  #lines = ''
  #saidTimer: ReturnType<typeof setTimeout> | undefined

  constructor(hand: Hand) {
    this.#hand = hand
    element('commands').replaceChildren()
    element('card').replaceChildren()
  }

  /** A short message: why something could not be done, or an alarm. `isNews`: what all players should know. */
  say(message: string, isNews: boolean = false): void {
    setText(element('toast'), message)
    element('toast').classList.toggle('is-news', isNews)
    clearTimeout(this.#saidTimer)
    this.#saidTimer = setTimeout(() => setText(element('toast'), ''), isNews ? NEWS_MS : SAID_MS)
  }

  update(world: World): void {
    const hand = this.#hand
    const { seat } = hand
    hand.selection.refresh(world)
    const own = [...world.each(Seat)][seat]
    const [match] = [...world.each(Match)]
    let count = 0
    for (const unit of world.each(Unit)) if (unit.seat === seat) count++
    element('crystals').hidden = own === undefined
    element('army').hidden = own === undefined
    setText(element('crystals'), String(own?.crystals ?? 0))
    setText(element('army'), `${count} / ${UNITS_PER_SEAT}`)
    const played = match === undefined || match.beganAt === 0 ? 0 : world.tick - match.beganAt
    setText(element('clock'), `${clock(played / TICK_RATE)}${played >= STORM_AT ? ' storm' : ''}`)
    element('clock').classList.toggle('is-storm', played >= STORM_AT)
    element('quick').hidden = own === undefined || own.isOut || played === 0
    const idle = hand.selection.idleWorkers(world, seat).length
    setText(element('idle-count'), idle === 0 ? '' : `${idle} idle`)
    element('idle').classList.toggle('is-idle', idle > 0)
    element('screen').classList.toggle('is-aiming', hand.aim !== undefined)
    this.#showCommands(own?.crystals ?? 0)
    this.#showCard(world, seat)
    this.#showLines(world)
  }

  #showCommands(crystals: number): void {
    const hand = this.#hand
    const commands = hand.seat < 0 ? [] : hand.commands
    const key = JSON.stringify([commands, hand.aim])
    if (key !== this.#commands) {
      this.#commands = key
      element('commands').replaceChildren(...commands.map((command) => this.#commandButton(command)))
    }
    // In place: a button that is replaced between press and release is not clicked.
    commands.forEach(({ cost = 0 }, at) =>
      element('commands').children[at]!.classList.toggle('is-costly', cost > crystals))
  }

  #commandButton(command: Command): HTMLButtonElement {
    const { key, label, hint, cost } = command
    const made = make('button', '', make('kbd', key), make('span', label))
    made.type = 'button'
    made.title = `${hint}${cost === undefined ? '' : `, ${cost} crystals`}`
    if (cost !== undefined) made.append(make('small', `◆ ${cost}`))
    const { aim } = this.#hand
    const own = command.act.kind === 'aim' ? command.act.aim : undefined
    const isOn = aim !== undefined && JSON.stringify(own) === JSON.stringify(aim)
    made.classList.toggle('is-on', isOn)
    made.addEventListener('click', () => {
      this.#hand.run(command)
      made.blur()
    })
    return made
  }

  #showCard(world: World, seat: number): void {
    const { selection } = this.#hand
    const counts = new Map<string, number>()
    for (const id of selection.ids) {
      const unit = world.get(Unit, id)
      if (unit !== null) counts.set(UNITS[unit.kind]!.name, (counts.get(UNITS[unit.kind]!.name) ?? 0) + 1)
    }
    const [first] = selection.ids
    const unit = first === undefined ? null : world.get(Unit, first)
    const building = first === undefined ? null : world.get(Building, first)
    const waiting = building === null || building.queue === 0 ? 0 : Math.max(0, building.trainedAt - world.tick)
    const unbuilt = building === null ? 0 : Math.max(0, Math.ceil((building.builtAt - world.tick) / TICK_RATE))
    const key = JSON.stringify([[...counts], unit?.hp, building?.hp, building?.queue, waiting >> 2, unbuilt])
    if (key === this.#card) return
    this.#card = key
    const card = element('card')
    card.replaceChildren()
    if (selection.ids.size > 1) {
      card.append(make('b', `${selection.ids.size} units`))
      const kinds = make('div', '', ...[...counts].map(([name, count]) => make('span', countOf(count, name))))
      kinds.className = 'kinds'
      card.append(kinds)
    } else if (unit !== null) {
      const rule = UNITS[unit.kind]!
      card.append(make('b', rule.name), ...ownerOf(unit.seat, seat), meter(unit.hp / rule.hp),
        make('small', `${unit.hp} / ${rule.hp} · damage ${rule.damage} · range ${rule.range}`))
    } else if (building !== null) {
      const rule = BUILDINGS[building.kind]!
      card.append(make('b', rule.name), ...ownerOf(building.seat, seat), meter(building.hp / rule.hp))
      if (unbuilt > 0) card.append(make('small', `being built, ${unbuilt} s left`))
      else if (building.seat === seat) card.append(queueOf(building.queue, waiting))
    }
  }

  #showLines(world: World): void {
    const lines = [...world.each(Line)].filter(({ at }) => world.tick - at < SHOWN_TICKS).sort((a, b) => a.at - b.at)
    const seats = [...world.each(Seat)]
    const key = JSON.stringify(lines.map(({ seat, text, at }) => [seat, text, at]))
    if (key === this.#lines) return
    this.#lines = key
    element('chat').replaceChildren(...lines.map(({ seat, text }) => {
      const name = make('b', `${seats[seat]?.name || SEAT_NAMES[seat]!}: `)
      name.style.color = cssColour(seat)
      const line = make('li', '', name)
      line.append(text)
      return line
    }))
  }
}

function ownerOf(owner: number, seat: number): Node[] {
  if (owner === seat) return []
  const made = make('small', ` of ${SEAT_NAMES[owner]!}`)
  made.style.color = cssColour(owner)
  return [made]
}

function countOf(count: number, name: string): string {
  return `${count} ${name}${count === 1 || name === 'artillery' ? '' : 's'}`
}

function meter(share: number): HTMLElement {
  const filled = make('i')
  filled.style.width = `${Math.round(share * 100)}%`
  const made = make('div', '', filled)
  made.className = 'meter'
  return made
}

/** The units that a building trains, the next one first. */
function queueOf(queue: number, waiting: number): HTMLElement {
  const made = make('div')
  made.className = 'queue'
  for (let rest = queue, each = 0; rest > 0; rest = Math.floor(rest / 8), each++) {
    const rule = UNITS[(rest % 8) - 1]!
    const item = make('i', rule.name)
    if (each === 0) item.style.setProperty('--share', String(Math.max(0, 1 - waiting / rule.training)))
    made.append(item)
  }
  return made
}
