/** Draws the match: field, objects, effects, and what players need to know. */

import type { View } from 'tickwire'
import {
  BEAM, BOSS, CLEARED, Enemy, Force, HEIGHT, LOST, Match, Pilot, PLAYING, Powerup, Ship, Shot, TICK_RATE, WIDTH, WON,
} from '../definitions.ts'
import { STAGES } from '../waves.ts'
import type { Effects } from './effects.ts'
import { drawEnemy, drawForce, drawPowerup, drawShip, drawShot, glow } from './models.ts'
import { drawScenery } from './scenery.ts'

type Pen = CanvasRenderingContext2D
const BANNER_SECONDS = 3

export class Picture {
  readonly #canvas: HTMLCanvasElement
  readonly #pen: Pen
  readonly #effects: Effects
  /** Tilt of ships by id, smoothed. */
  readonly #tilts = new Map<number, number>()
  #lastAt = 0
  #describedAt = 0

  constructor(canvas: HTMLCanvasElement, effects: Effects) {
    this.#canvas = canvas
    this.#pen = canvas.getContext('2d', { alpha: false })!
    this.#effects = effects
  }

  /** The field without a match, behind the menu. */
  drawEmpty(): void {
    const now = performance.now() / 1000
    this.#fit(this.#pen)
    drawScenery(this.#pen, 1 + (Math.floor(now / 12) % STAGES.length), now)
    this.#pen.setTransform(1, 0, 0, 1, 0, 0)
  }

  draw(view: View, me: number): void {
    const now = performance.now() / 1000
    const seconds = Math.min(0.1, now - this.#lastAt)
    this.#lastAt = now
    const pen = this.#pen
    this.#fit(pen)
    const shake = this.#effects.shake
    pen.save()
    pen.translate(Math.sin(now * 71) * shake * 0.5, Math.cos(now * 83) * shake * 0.5)
    const [match] = view.each(Match)
    drawScenery(pen, match?.level ?? 1, now)
    this.#objects(view, me, now)
    this.#effects.draw(pen, seconds)
    pen.restore()
    if (this.#effects.flash > 0) {
      pen.fillStyle = `rgb(255 250 240 / ${this.#effects.flash * 0.7})`
      pen.fillRect(0, 0, WIDTH, HEIGHT)
    }
    this.#hud(view, me, match)
    pen.setTransform(1, 0, 0, 1, 0, 0)
    this.#describe(view, match, now)
  }

  /** Says once a second in words what the canvas shows, for screen readers and tests. */
  #describe(view: View, match: { level: number; phase: number } | undefined, now: number): void {
    if (now - this.#describedAt < 1) return
    this.#describedAt = now
    const ships = new Set([...view.each(Ship)].filter(({ isUp }) => isUp).map(({ owner }) => owner as number))
    const players = [...view.each(Pilot)].map(({ name, peer, score }) =>
      `${name}, ${score} points${ships.has(peer) ? '' : ', down'}`)
    const state = ['playing', 'complete', 'lost', 'won'][match?.phase ?? PLAYING]!
    this.#canvas.setAttribute('aria-label', `Level ${match?.level ?? 1}, ${state}. ${players.join('. ')}.`)
  }

  /** Sets the transform so that the field fills the window with bars, and clears the bars. */
  #fit(pen: Pen): void {
    const ratio = Math.min(2, devicePixelRatio)
    const [width, height] = [Math.round(innerWidth * ratio), Math.round(innerHeight * ratio)]
    if (this.#canvas.width !== width || this.#canvas.height !== height) {
      this.#canvas.width = width
      this.#canvas.height = height
    }
    const scale = Math.min(width / WIDTH, height / HEIGHT)
    pen.setTransform(1, 0, 0, 1, 0, 0)
    pen.fillStyle = '#03040c'
    pen.fillRect(0, 0, width, height)
    pen.setTransform(scale, 0, 0, scale, (width - WIDTH * scale) / 2, (height - HEIGHT * scale) / 2)
    pen.beginPath()
    pen.rect(0, 0, WIDTH, HEIGHT)
    pen.clip()
  }

  #objects(view: View, me: number, now: number): void {
    const pen = this.#pen
    const at = (x: number, y: number, paint: () => void): void => {
      pen.save()
      pen.translate(x, y)
      paint()
      pen.restore()
    }
    for (const { x, y, kind } of view.each(Powerup)) at(x, y, () => drawPowerup(pen, kind, now))
    for (const { x, y, kind, isHit, phase, health, healthMax } of view.each(Enemy)) {
      at(x, y, () => drawEnemy(pen, kind, isHit, phase, health / Math.max(1, healthMax), now))
    }
    const pilots = new Map([...view.each(Pilot)].map((pilot) => [pilot.peer, pilot]))
    for (const ship of view.each(Ship)) {
      const pilot = pilots.get(ship.owner)
      if (!ship.isUp || pilot === undefined) continue
      const tilt = (this.#tilts.get(ship.id) ?? 0) * 0.8 + (ship.vy / 270) * 0.2
      this.#tilts.set(ship.id, tilt)
      if (now % 0.05 < 0.02) this.#effects.trail(ship.x - 20, ship.y, pilot.hue * 1.4)
      at(ship.x, ship.y, () => {
        if (pilot.isSafe && Math.floor(now * 14) % 2 === 0) pen.globalAlpha = 0.45
        drawShip(pen, pilot.hue, tilt, Math.max(0, ship.vx / 270), now)
        pen.globalAlpha = 1
        if (pilot.shield > 0) bubble(pen, pilot.shield / 100)
        if (pilot.charge > 0) charge(pen, pilot.charge, now)
        if (ship.owner !== me) label(pen, pilot.name, -30)
      })
    }
    for (const { x, y, level, isFiring } of view.each(Force)) at(x, y, () => drawForce(pen, level, isFiring, now))
    for (const { x, y, vx, vy, kind, by } of view.each(Shot)) {
      at(x, y, () => drawShot(pen, kind, by !== 0, Math.atan2(vy, vx), now))
      if (kind === BEAM) this.#effects.trail(x - 20, y, 190)
    }
  }

  #hud(view: View, me: number,
    match: { level: number; phase: number; startedAt: number; phaseAt: number } | undefined): void {
    const pen = this.#pen
    const pilots = [...view.each(Pilot)].sort((a, b) => b.score - a.score)
    pen.textBaseline = 'middle'
    pilots.slice().sort((a, b) => a.peer - b.peer).forEach((pilot, index) => card(pen, pilot, index, pilot.peer === me))
    for (const { kind, health, healthMax, phase } of view.each(Enemy)) if (kind === BOSS) bossBar(pen,
      health / healthMax, phase)
    if (match === undefined) return
    const since = (view.tick - match.phaseAt) / TICK_RATE
    const stage = STAGES[match.level - 1]!
    if (match.phase === PLAYING && since < BANNER_SECONDS) banner(pen, `Level ${match.level}`, stage.name, since)
    if (match.phase === CLEARED) this.#table(pilots, 'Level complete', `${stage.name} is behind you`)
    if (match.phase === WON) this.#table(pilots, 'Victory', 'The hive is silent')
    if (match.phase === LOST) this.#table(pilots, 'Game over', 'A new run begins at once')
  }

  #table(pilots: readonly { name: string; score: number; hue: number }[], title: string, text: string): void {
    const pen = this.#pen
    pen.fillStyle = 'rgb(4 8 24 / 72%)'
    pen.fillRect(0, 0, WIDTH, HEIGHT)
    pen.textAlign = 'center'
    pen.fillStyle = '#fff'
    pen.font = '800 54px system-ui'
    pen.fillText(title, WIDTH / 2, 150)
    pen.font = '18px system-ui'
    pen.fillStyle = '#a9b8e6'
    pen.fillText(text, WIDTH / 2, 195)
    pilots.forEach(({ name, score, hue }, index) => {
      const y = 260 + index * 38
      pen.font = '700 22px system-ui'
      pen.fillStyle = `hsl(${hue * 1.4} 85% 70%)`
      pen.textAlign = 'left'
      pen.fillText(`${index + 1}.  ${name}`, WIDTH / 2 - 190, y)
      pen.textAlign = 'right'
      pen.fillStyle = '#fff'
      pen.fillText(score.toLocaleString('en'), WIDTH / 2 + 190, y)
    })
  }
}

function bubble(pen: Pen, strength: number): void {
  pen.strokeStyle = `hsl(205 100% 70% / ${0.35 + strength * 0.5})`
  pen.lineWidth = 2
  pen.beginPath()
  pen.ellipse(2, 0, 32, 22, 0, 0, 7)
  pen.stroke()
}

function charge(pen: Pen, percent: number, now: number): void {
  pen.save()
  pen.translate(30, 0)
  glow(pen, 8 + percent * 0.3 + Math.sin(now * 30) * 2, percent >= 100 ? '#ffffffcc' : '#7df6ffaa')
  pen.restore()
}

function label(pen: Pen, name: string, y: number): void {
  pen.font = '600 12px system-ui'
  pen.textAlign = 'center'
  pen.textBaseline = 'middle'
  pen.fillStyle = '#cfe0ffcc'
  pen.fillText(name, 0, y)
}

interface Card {
  name: string; hue: number; health: number; shield: number; lives: number; level: number; score: number; isBot: boolean
}

function card(pen: Pen, pilot: Card, index: number, isMine: boolean): void {
  const [x, y, width] = [14 + index * 236, HEIGHT - 48, 224]
  pen.fillStyle = isMine ? 'rgb(20 34 80 / 78%)' : 'rgb(6 10 28 / 62%)'
  pen.beginPath()
  pen.roundRect(x, y, width, 38, 8)
  pen.fill()
  const colour = `hsl(${pilot.hue * 1.4} 85% 68%)`
  pen.fillStyle = colour
  pen.fillRect(x, y + 6, 3, 26)
  pen.font = '700 13px system-ui'
  pen.textAlign = 'left'
  pen.fillText(pilot.name, x + 12, y + 12)
  pen.fillStyle = '#fff'
  pen.textAlign = 'right'
  pen.fillText(pilot.score.toLocaleString('en'), x + width - 10, y + 12)
  pen.fillStyle = '#ffffff22'
  pen.fillRect(x + 12, y + 24, 110, 6)
  pen.fillStyle = pilot.health > 35 ? colour : '#ff5d6c'
  pen.fillRect(x + 12, y + 24, 1.1 * pilot.health, 6)
  pen.fillStyle = '#7cc7ff'
  pen.fillRect(x + 12, y + 31, 1.1 * pilot.shield, 2)
  pen.fillStyle = '#cfd9ff'
  pen.font = '600 12px system-ui'
  pen.fillText(`${'♥'.repeat(Math.min(5, pilot.lives))}  W${pilot.level}`, x + width - 10, y + 28)
}

function bossBar(pen: Pen, part: number, phase: number): void {
  const [x, y, width] = [WIDTH / 2 - 220, 18, 440]
  pen.fillStyle = 'rgb(6 10 28 / 70%)'
  pen.fillRect(x - 4, y - 4, width + 8, 18)
  const bar = pen.createLinearGradient(x, 0, x + width, 0)
  bar.addColorStop(0, '#ff3d6c')
  bar.addColorStop(0.5, '#ffb14d')
  bar.addColorStop(1, '#58d0ff')
  pen.fillStyle = bar
  pen.fillRect(x, y, width * part, 10)
  pen.fillStyle = '#03040c'
  for (const third of [1 / 3, 2 / 3]) pen.fillRect(x + width * third, y, 2, 10)
  pen.font = '700 12px system-ui'
  pen.textAlign = 'center'
  pen.fillStyle = '#fff'
  pen.fillText(`BOSS · PHASE ${phase}`, WIDTH / 2, y + 24)
}

function banner(pen: Pen, title: string, text: string, since: number): void {
  pen.globalAlpha = Math.min(1, since * 3, (BANNER_SECONDS - since) * 2)
  pen.textAlign = 'center'
  pen.fillStyle = '#7df6ff'
  pen.font = '700 20px system-ui'
  pen.fillText(title.toUpperCase(), WIDTH / 2, HEIGHT / 2 - 34)
  pen.fillStyle = '#fff'
  pen.font = '800 52px system-ui'
  pen.fillText(text, WIDTH / 2, HEIGHT / 2 + 8)
  pen.globalAlpha = 1
}
