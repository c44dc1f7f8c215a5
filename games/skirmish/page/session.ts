/**
 * One match on the screen: its room, the picture, the hand and the panels, from the lobby to the results. It is the
 * same for every place: a relay, a local match, a replay.
 */

import type { Tick, World } from 'tickwire'
import type { WeatherWire } from 'tickwire/devtools'
import type { DesyncReport, LockstepRoom } from 'tickwire/lockstep'
import { Match, Seat } from '../definitions.ts'
import { columnOf, makeMap, rowOf } from '../map.ts'
import { Introduce, Say } from '../lobby.ts'
import { Surrender, type ORDERS } from '../orders.ts'
import { TICK_RATE } from '../rules.ts'
import { Chronicle } from './chronicle.ts'
import { Controls } from './controls.ts'
import { element, setText } from './dom.ts'
import { Hand } from './hand.ts'
import { Hud } from './hud.ts'
import { LobbyPanel } from './lobby-panel.ts'
import type { Happening } from './memory.ts'
import type { Minimap } from './minimap.ts'
import { NetworkPanel } from './network-panel.ts'
import type { Picture } from './picture.ts'
import { ResultsPanel } from './results-panel.ts'
import type { Sounds } from './sounds.ts'

/** Milliseconds between two looks through the fog, and two drawings of the minimap. */
const LOOK_MS = 200
const ALARM_MS = 4000
const HASHES_KEPT = 600
const TICK_MS = 1000 / TICK_RATE

/** What a match needs of the page. */
export interface Stage {
  readonly picture: Picture
  readonly sounds: Sounds
  readonly minimap: Minimap
  /** The results: the player wants to see the replay. */
  onReplay(room: LockstepRoom<typeof ORDERS>): void
  /** The match is over, and the player wants the menu. `problem`: why, if it was not the player's wish. */
  onMenu(problem?: string): void
}

export class Session {
  readonly room: LockstepRoom<typeof ORDERS>
  readonly hand: Hand
  readonly #stage: Stage
  readonly #hud: Hud
  readonly #controls: Controls
  readonly #lobby: LobbyPanel
  readonly #results: ResultsPanel
  readonly #network: NetworkPanel
  readonly #stop = new AbortController()
  readonly #chronicle: Chronicle
  readonly #isReplay: boolean
  #lookedAt = 0
  #alarmedAt = 0
  #steppedAt = 0
  #drawnAt = 0
  #seat = -1
  #hasBegun = false
  readonly #hashes = new Map<Tick, string>()

  constructor(
    room: LockstepRoom<typeof ORDERS>, stage: Stage, chronicle: Chronicle, isReplay: boolean,
    wire: WeatherWire | undefined,
  ) {
    this.room = room
    this.#stage = stage
    this.#chronicle = chronicle
    this.#isReplay = isReplay
    const { picture, sounds, minimap } = stage
    this.hand = new Hand(room, picture, sounds)
    this.#hud = new Hud(this.hand)
    this.#controls = new Controls(element<HTMLCanvasElement>('screen'), this.hand, element('box'))
    this.#lobby = new LobbyPanel(room)
    this.#results = new ResultsPanel(chronicle, () => stage.onReplay(room), () => this.end())
    this.#network = new NetworkPanel(room, wire)
    this.#controls.onKey = (key) => this.#key(key)
    minimap.onOrder = (spot) => this.hand.commandAt(spot, false)
    picture.memory.clear()
    element('hud').hidden = false
    document.body.classList.toggle('is-replay', isReplay)
    this.#listen()
    room.play({ draw: (world) => this.#draw(world) })
  }

  /** Gives the order that sets the name of the own player. */
  introduce(name: string): void {
    if (name !== '') this.room.order(Introduce, { name })
  }

  /** Call it after every tick: it notes where everything is, and shows what happened. */
  noteTick(world: World): void {
    this.#steppedAt = performance.now()
    this.#chronicle.note(world)
    this.#network.noteTick(this.#steppedAt)
    this.#hashes.set(world.tick, this.room.runner.hash.value.join('.'))
    this.#hashes.delete(world.tick - HASHES_KEPT)
    this.#stage.picture.memory.note(world, (happening) => this.#show(happening))
  }

  /** The hash after a tick, for tests and for players that compare their screens. The last 600 are kept. */
  hashAt(tick: Tick): string | undefined {
    return this.#hashes.get(tick)
  }

  get drawCalls(): number {
    return this.#stage.picture.drawCalls
  }

  /** The worlds of two players differed. */
  showDesync(report: DesyncReport): void {
    this.#network.showDesync(report)
  }

  /** Leaves the match, and takes its parts off the screen. */
  end(problem?: string): void {
    if (this.#stop.signal.aborted) return
    this.#stop.abort()
    this.#controls.stop()
    this.#lobby.stop()
    this.#results.stop()
    this.#network.stop()
    element('hud').hidden = true
    this.room.leave()
    this.#stage.onMenu(problem)
  }

  #listen(): void {
    const { signal } = this.#stop
    const { room } = this
    void room.closed.then(({ code }) => {
      if (this.#isReplay || this.#results.isShown) return
      this.end(code === 'left' ? undefined : `The match is over: ${code}.`)
    })
    element('pause').addEventListener('click', () => this.#pause(), { signal })
    element('leave').addEventListener('click', () => this.#leave(), { signal })
    element('say').addEventListener('submit', (event) => {
      event.preventDefault()
      const field = element<HTMLInputElement>('say-text')
      if (field.value.trim() !== '') room.order(Say, { text: field.value.trim() })
      field.value = ''
      element('say').hidden = true
    }, { signal })
  }

  #pause(): void {
    if (this.room.runner.roster.isPaused) this.room.resume()
    else this.room.pause()
  }

  /** The first click gives up, the second one leaves. */
  #leave(): void {
    const own = [...this.room.world.each(Seat)][this.hand.seat]
    if (own === undefined || own.isOut || !this.#hasBegun || this.#isReplay) return this.end()
    this.room.order(Surrender, { isSure: true })
  }

  #key(key: string): void {
    if (key === 'Enter') {
      element('say').hidden = false
      element('say-text').focus()
    } else if (key === 'p' || key === 'P') this.#pause()
    else if (key === 'h' || key === 'H') element('keys').hidden = !element('keys').hidden
    else if (key === 'n' || key === 'N') element('net').click()
    else if (key === 'm' || key === 'M') this.#stage.sounds.isMuted = !this.#stage.sounds.isMuted
  }

  #draw(world: World): void {
    if (this.#stop.signal.aborted) return
    const now = performance.now()
    const { picture, minimap } = this.#stage
    const { seat } = this.hand
    if (seat !== this.#seat) this.#begin(world, seat)
    const speed = this.room.runner.roster.speedPercent / 100
    const alpha = Math.min(1, ((now - this.#steppedAt) * speed) / TICK_MS)
    this.#controls.update(Math.min(0.1, (now - this.#drawnAt) / 1000))
    this.#drawnAt = now
    if (now - this.#lookedAt > LOOK_MS) {
      this.#lookedAt = now
      picture.fog.isOff = seat < 0 || this.#isOver(world)
      picture.look(world, Math.max(0, seat))
      minimap.draw(world, picture.fog, picture.camera, seat, now)
      this.#hud.update(world)
      this.#lobby.update(world)
      this.#results.update(world, seat)
      this.#network.update()
      this.#showState(world)
    }
    picture.draw(world, { seat, selected: this.hand.selection.ids, plan: this.hand.plan, alpha }, now)
  }

  #isOver(world: World): boolean {
    for (const { winner } of world.each(Match)) return winner !== 0
    return false
  }

  /** The own seat is known, or is another one: looks at its headquarters. */
  #begin(world: World, seat: number): void {
    this.#seat = seat
    const start = makeMap(world.seed).starts[Math.max(0, seat)]!
    const { camera } = this.#stage.picture
    camera.lookAt({ x: columnOf(start), y: rowOf(start) + 2 })
    // A narrow screen shows as many cells as a wide one from farther away.
    camera.height = innerWidth < 760 ? 30 : 20
  }

  #showState(world: World): void {
    for (const { beganAt } of world.each(Match)) {
      if (beganAt !== 0 && !this.#hasBegun) this.#stage.sounds.play('ready')
      this.#hasBegun = beganAt !== 0
    }
    if (this.room.isAway) return
    const { roster } = this.room.runner
    const away = [...world.each(Seat)].filter(({ player }) => player !== 0 && roster.isAway(player))
      .map(({ name }) => name)
    setText(element('notice'), roster.isPaused ? 'Paused' : away.length > 0 ? `Away: ${away.join(', ')}` : '')
    setText(element('pause'), roster.isPaused ? 'resume' : 'pause')
  }

  #show(happening: Happening): void {
    const { picture, sounds, minimap } = this.#stage
    const isVisible = picture.fog.isVisible(happening.x, happening.y)
    const now = performance.now()
    if (isVisible) picture.effects.show(happening)
    const near = Math.hypot(happening.x - picture.camera.x, happening.y - picture.camera.y)
    const loudness = isVisible ? Math.max(0, 1 - near / 34) : 0
    if (happening.kind === 'shot') sounds.play(happening.weapon === 4 ? 'shell' : 'shot', loudness)
    else if (happening.kind === 'fall') {
      sounds.play('fall', loudness)
      if (happening.seat !== this.#seat || now - this.#alarmedAt < ALARM_MS) return
      this.#alarmedAt = now
      minimap.alarm(happening.x, happening.y, now)
      if (near > 20) sounds.play('alarm')
    } else if (happening.seat === this.#seat && this.#hasBegun) sounds.play('ready', 0.6)
  }
}
