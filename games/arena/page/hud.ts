/** The text over the picture: numbers, names, events. It modifies the page only where something changed. */

import type { ObjectView, PeerId, View } from 'tickwire'
import { Match, Ping, Seat, WEAPONS, type Fighter } from '../definitions.ts'
import { isCalm } from './settings.ts'

const FEED_MS = 6000
const CHAT_MS = 9000
const LINES_MAX = 5
const DEATHS_BY = ['shot', 'blew up', 'railed', 'killed'] as const
/** Height of a score table without its rows, and the minimum height of a row, in pixels. */
const SCORES_PX = 170
const ROW_PX = 20
const ROWS_MIN = 6
/** With more rows than this, rows are closer together. */
const ROWS_WIDE = 12

/** Finds an element of the page, which must exist. */
export function element<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found as E
}

export class Hud {
  readonly #texts = new Map<HTMLElement, string>()
  readonly #hud = element('hud')
  readonly #weapons: readonly HTMLElement[]
  readonly #flash = element('flash')
  readonly #marker = element('hitmarker')
  readonly #from = element('from')
  readonly #rtt = document.createElement('span')
  readonly #transport = document.createElement('i')
  #lastHealth = 0
  #lastId = 0

  constructor() {
    element('net').append(this.#rtt, this.#transport)
    this.#weapons = WEAPONS.map((name) => {
      const slot = document.createElement('span')
      slot.append(document.createElement('b'), name)
      element('weapons').append(slot)
      return slot
    })
  }

  set isShown(isShown: boolean) {
    this.#hud.hidden = !isShown
  }

  /** Health, armour and ammunition of the local or the followed fighter. */
  showFighter(fighter: ObjectView<typeof Fighter> | undefined, weapon: number, isOwn: boolean): void {
    this.#hud.classList.toggle('is-dead', fighter === undefined)
    this.#hud.classList.toggle('is-watching', !isOwn && fighter === undefined)
    const { health = 0, armour = 0, slugs = 0, rockets = 0 } = fighter ?? {}
    if (isOwn && fighter !== undefined && fighter.id === this.#lastId && health < this.#lastHealth)
      this.#hurt(this.#lastHealth - health)
    this.#lastHealth = health
    this.#lastId = fighter?.id ?? 0
    this.#vital('health', health, 100)
    this.#vital('armour', armour, 100)
    element('health').classList.toggle('is-low', health > 0 && health <= 30)
    const ammunition = ['∞', `${rockets}`, `${slugs}`]
    this.#weapons.forEach((slot, index) => {
      this.#write(slot.firstElementChild as HTMLElement, ammunition[index]!)
      slot.classList.toggle('is-held', index === weapon)
      slot.classList.toggle('is-empty', ammunition[index] === '0')
    })
  }

  /** The score: the player's own and the best of the others; a spectator has none of its own. */
  showMatch(view: View, tickRate: number, me: PeerId): void {
    let own: number | undefined
    let best = 0
    for (const { owner, frags } of view.each(Seat)) {
      if (owner === me) own = frags
      else best = Math.max(best, frags)
    }
    for (const { endsAt, fragLimit } of view.each(Match)) {
      const seconds = Math.max(0, Math.ceil((endsAt - view.tick) / tickRate))
      this.#write(element('clock'), `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`)
      this.#writeScore(own, best, fragLimit)
    }
  }

  /** The round trip time, and the transport. */
  showLine(rttMs: number, transport: string): void {
    this.#write(this.#rtt, `${Math.round(rttMs)} ms`)
    this.#write(this.#transport, ` · ${transport}`)
  }

  /** The simulated network conditions of a developer. */
  showWeather(text: string, explanation: string): void {
    const weather = element('weather')
    weather.hidden = false
    weather.title = explanation
    this.#write(weather, text)
  }

  notice(text: string): void {
    this.#write(element('notice'), text)
  }

  /** Shows an item that the player picked up. */
  gained(text: string): void {
    const line = element('gained')
    line.textContent = text
    replay(
      line,
      [
        { opacity: 1, transform: 'translateY(0)' },
        { opacity: 1, offset: 0.6 },
        { opacity: 0, transform: 'translateY(-12px)' },
      ],
      1100,
    )
  }

  /** Shows the direction of damage: radians to the left of the view direction. */
  hurtFrom(turn: number): void {
    this.#from.style.transform = `rotate(${-turn}rad)`
    replay(this.#from, [{ opacity: 0.9 }, { opacity: 0 }], 900)
  }

  marker(): void {
    replay(this.#marker, [{ opacity: 1 }, { opacity: 0 }], 260)
  }

  /** Without a killer, it was a suicide, or the killer has left. */
  killed(killer: string | undefined, victim: string, weapon: number, isOwn: boolean): void {
    const line = document.createElement('li')
    const how = document.createElement('i')
    how.textContent = killer === undefined ? 'own goal' : DEATHS_BY[weapon] ?? 'killed'
    line.append(...(killer === undefined ? [victim, how] : [killer, how, victim]))
    line.classList.toggle('own', isOwn)
    passing(element('feed'), line, FEED_MS)
  }

  said(name: string, text: string): void {
    const line = document.createElement('li')
    const who = document.createElement('b')
    who.textContent = `${name} `
    line.append(who, text)
    passing(element('chat'), line, CHAT_MS)
  }

  /** The scores that fit on the screen: the best, and the player's own. */
  showScores(view: View, me: PeerId, isShown: boolean, title: string, remark: string): void {
    const table = element<HTMLTableElement>('scoreboard')
    table.hidden = !isShown
    if (!isShown) return
    const all = [...view.each(Seat)].sort((a, b) => b.frags - a.frags || a.deaths - b.deaths)
    const most = Math.max(ROWS_MIN, Math.floor((innerHeight - SCORES_PX) / ROW_PX))
    const place = all.findIndex(({ owner }) => owner === me)
    const seats = place < most ? all.slice(0, most) : [...all.slice(0, most - 1), all[place]!]
    const pings = new Map([...view.each(Ping)].map(({ peer, ms }) => [peer, ms]))
    const pingOf = (owner: PeerId): string => `${pings.get(owner) ?? 0}`
    const text =
      title
      + remark
      + seats.map(({ owner, name, frags, deaths }) => `${name} ${frags} ${deaths} ${pingOf(owner)}`).join('|')
    if (this.#texts.get(table) === text) return
    this.#texts.set(table, text)
    table.classList.toggle('is-long', seats.length > ROWS_WIDE)
    table.caption?.replaceChildren(title, Object.assign(document.createElement('small'), { textContent: remark }))
    table.tBodies[0]?.replaceChildren(...seats.map(({ owner, name, frags, deaths, isBot }) => {
      const row = document.createElement('tr')
      row.classList.toggle('own', owner === me)
      for (const cell of [name, `${frags}`, `${deaths}`, isBot ? 'bot' : pingOf(owner)]) {
        row.insertCell().textContent = cell
      }
      return row
    }))
  }

  #writeScore(own: number | undefined, best: number, limit: number): void {
    const score = element('score')
    const text = `${own} ${best} ${limit}`
    if (this.#texts.get(score) === text) return
    this.#texts.set(score, text)
    const small = (label: string): HTMLElement => Object.assign(document.createElement('small'), { textContent: label })
    score.replaceChildren(
      ...(own === undefined ? [] : [small('you'), `${own} `]),
      small('best'),
      `${best} `,
      small('of'),
      `${limit}`,
    )
  }

  #vital(id: 'health' | 'armour', value: number, most: number): void {
    const box = element(id)
    this.#write(box.querySelector('b')!, `${value}`)
    box.querySelector('i')!.style.transform = `scaleX(${Math.min(value / most, 1)})`
  }

  #hurt(amount: number): void {
    replay(this.#flash, [{ opacity: Math.min(0.25 + amount / 90, isCalm ? 0.35 : 0.85) }, { opacity: 0 }], 380)
  }

  #write(target: HTMLElement, text: string): void {
    if (this.#texts.get(target) === text) return
    this.#texts.set(target, text)
    target.textContent = text
  }
}

function replay(target: HTMLElement, keyframes: Keyframe[], duration: number): void {
  // Without motion a line appears and disappears.
  const steps = isCalm ? keyframes.map(({ transform: _, ...rest }) => rest) : keyframes
  target.animate(steps, { duration, easing: isCalm ? 'steps(1, end)' : 'ease-out' })
}

/** Shows a line for a while, below earlier ones. */
function passing(list: HTMLElement, line: HTMLElement, ms: number): void {
  list.append(line)
  while (list.children.length > LINES_MAX) list.firstElementChild?.remove()
  setTimeout(() => { line.style.opacity = '0' }, ms)
  setTimeout(() => line.remove(), ms + 700)
}
