/** Draws the match: scenery, objects, effects, and texts. */

import type { View } from 'tickwire'
import {
  BEAM, BOSS, CLEARED, Enemy, Force, HEIGHT, LOST, Match, PAUSE_SECONDS, Pilot, PLAYING, Powerup, Ship, Shot, TICK_RATE,
  WIDTH, WON,
} from '../definitions.ts'
import { STAGES } from '../waves.ts'
import type { Effects } from './effects.ts'
import { Frame } from './frame.ts'
import { BANNER_SECONDS, drawBanner, drawBossBar, drawCards, drawTable } from './hud.ts'
import { drawEnemy, drawForce, drawPowerup, drawShip, drawShot, glow } from './models.ts'
import { drawScenery } from './scenery.ts'

type Pen = CanvasRenderingContext2D
type MatchView = { readonly level: number; readonly phase: number; readonly phaseAt: number }

const ENDS = new Map([[CLEARED, 'Level complete'], [WON, 'Victory'], [LOST, 'Game over']])

export class Picture {
  readonly frame: Frame = new Frame()
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

  /** The field without a match, behind the menu: a ship on its way, past the sky of each level. */
  drawEmpty(): void {
    const now = performance.now() / 1000
    const [pen, frame] = [this.#pen, this.frame]
    frame.fit(this.#canvas)
    frame.enterField(pen)
    drawScenery(pen, 1 + (Math.floor(now / 12) % STAGES.length), now, frame.bounds)
    pen.translate(WIDTH * 0.1 + 30 * Math.sin(now * 0.7), HEIGHT / 2 + 60 * Math.sin(now * 1.1))
    drawShip(pen, 140, Math.cos(now * 1.1) * 0.5, 0.6, now)
    pen.translate(38, 0)
    drawForce(pen, 2, false, now)
  }

  draw(view: View, me: number): void {
    const now = performance.now() / 1000
    const seconds = Math.min(0.1, now - this.#lastAt)
    this.#lastAt = now
    const [pen, frame, effects] = [this.#pen, this.frame, this.#effects]
    frame.fit(this.#canvas)
    frame.enterField(pen)
    pen.save()
    const shake = effects.isCalm ? 0 : effects.shake * 0.5
    pen.translate(Math.sin(now * 71) * shake, Math.cos(now * 83) * shake)
    const [match] = view.each(Match)
    drawScenery(pen, match?.level ?? 1, now, frame.bounds)
    this.#objects(view, me, now, match?.level ?? 1)
    effects.draw(pen, seconds, frame)
    pen.restore()
    frame.enterWindow(pen)
    effects.drawScreen(pen, frame)
    this.#hud(view, me, match)
    this.#describe(view, match, now)
  }

  /** Describes once a second in words what the canvas shows, for screen readers and tests. */
  #describe(view: View, match: MatchView | undefined, now: number): void {
    if (now - this.#describedAt < 1) return
    this.#describedAt = now
    const ships = new Set([...view.each(Ship)].filter(({ isUp }) => isUp).map(({ owner }) => owner as number))
    const players = [...view.each(Pilot)].map(({ name, peer, score }) =>
      `${name}, ${score} points${ships.has(peer) ? '' : ', down'}`)
    const state = ['playing', 'complete', 'lost', 'won'][match?.phase ?? PLAYING]!
    this.#canvas.setAttribute('aria-label', `Level ${match?.level ?? 1}, ${state}. ${players.join('. ')}.`)
  }

  #at(x: number, y: number, paint: () => void): void {
    const pen = this.#pen
    pen.save()
    pen.translate(x, y)
    paint()
    pen.restore()
  }

  #objects(view: View, me: number, now: number, level: number): void {
    const [pen, frame] = [this.#pen, this.frame]
    for (const { x, y, kind } of view.each(Powerup)) this.#at(x, y, () => drawPowerup(pen, kind, now, frame))
    for (const { x, y, kind, isHit, phase, health, healthMax } of view.each(Enemy)) {
      this.#at(x, y, () => drawEnemy(pen, kind, isHit, phase, health / Math.max(1, healthMax), now, level))
    }
    this.#ships(view, me, now)
    for (const force of view.each(Force)) {
      this.#at(force.x, force.y, () => drawForce(pen, force.level, force.isFiring, now))
    }
    for (const { x, y, vx, vy, kind, by } of view.each(Shot)) {
      this.#at(x, y, () => drawShot(pen, kind, by !== 0, Math.atan2(vy, vx), now))
      if (kind === BEAM) this.#effects.trail(x - 20, y, 190)
    }
  }

  #ships(view: View, me: number, now: number): void {
    const [pen, frame] = [this.#pen, this.frame]
    const pilots = new Map([...view.each(Pilot)].map((pilot) => [pilot.peer, pilot]))
    for (const ship of view.each(Ship)) {
      const pilot = pilots.get(ship.owner)
      if (!ship.isUp || pilot === undefined) continue
      const tilt = (this.#tilts.get(ship.id) ?? 0) * 0.8 + (ship.vy / 270) * 0.2
      this.#tilts.set(ship.id, tilt)
      if (now % 0.05 < 0.02) this.#effects.trail(ship.x - 20, ship.y, pilot.hue * 1.4)
      this.#at(ship.x, ship.y, () => {
        if (pilot.isSafe && (this.#effects.isCalm || Math.floor(now * 14) % 2 === 0)) pen.globalAlpha = 0.45
        drawShip(pen, pilot.hue, tilt, Math.max(0, ship.vx / 270), now)
        pen.globalAlpha = 1
        if (pilot.shield > 0) bubble(pen, pilot.shield / 100)
        if (pilot.charge > 0) charge(pen, pilot.charge, now)
        frame.level(pen)
        if (ship.owner !== me) label(pen, pilot.name, '#cfe0ffcc')
        else if (pilot.isSafe) label(pen, 'YOU', '#ffffff')
      })
    }
  }

  #hud(view: View, me: number, match: MatchView | undefined): void {
    const [pen, frame] = [this.#pen, this.frame]
    const pilots = [...view.each(Pilot)].sort((a, b) => a.peer - b.peer)
    drawCards(pen, frame, pilots, me)
    for (const { kind, health, healthMax, phase } of view.each(Enemy)) {
      if (kind === BOSS) drawBossBar(pen, frame, health / healthMax, phase)
    }
    if (match === undefined) return
    const since = (view.tick - match.phaseAt) / TICK_RATE
    const { name } = STAGES[match.level - 1]!
    const title = ENDS.get(match.phase)
    if (title === undefined) {
      if (since < BANNER_SECONDS) drawBanner(pen, frame, `Level ${match.level}`, name, since)
      return
    }
    const texts = new Map([[CLEARED, `${name} is behind you`], [WON, 'The hive is silent'], [LOST, 'A new run begins']])
    const best = pilots.slice().sort((a, b) => b.score - a.score)
    drawTable(pen, frame, best, title, texts.get(match.phase) ?? '', me, PAUSE_SECONDS - since)
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
  pen.strokeStyle = '#7df6ff'
  pen.lineWidth = 2
  pen.beginPath()
  pen.arc(0, 0, 13, -Math.PI / 2, -Math.PI / 2 + (percent / 100) * Math.PI * 2)
  pen.stroke()
  pen.restore()
}

function label(pen: Pen, name: string, colour: string): void {
  pen.font = '600 12px system-ui'
  pen.textAlign = 'center'
  pen.textBaseline = 'middle'
  pen.fillStyle = colour
  pen.fillText(name, 0, -32)
}
