/**
 * One match on the screen: its room, the picture, the hand and the panels, from the lobby to the results. It is the
 * same for every place: a relay, a local match, a replay, a server that steps it.
 */

import type { Tick, World } from 'tickwire'
import type { WeatherWire } from 'tickwire/devtools'
import type { DesyncReport, LockstepRoom, TickEvent } from 'tickwire/lockstep'
import { mapKindOf, Match, Seat } from '../definitions.ts'
import { makeMap } from '../map.ts'
import { columnOf, rowOf } from '../map-cells.ts'
import { Introduce, Say } from '../lobby.ts'
import type { ORDERS } from '../orders.ts'
import { STORM_AT, TICK_RATE } from '../rules.ts'
import type { Spot } from './camera.ts'
import type { Chronicle } from './chronicle.ts'
import { Coach } from './coach.ts'
import { Controls } from './controls.ts'
import { element, setText } from './dom.ts'
import type { Fog } from './fog.ts'
import type { FogWorld } from './fog-world.ts'
import { Hand } from './hand.ts'
import { Hud } from './hud.ts'
import { LobbyPanel } from './lobby-panel.ts'
import type { Happening } from './memory.ts'
import type { Minimap } from './minimap.ts'
import type { OwnOrder } from './network-graphs.ts'
import { NetworkPanel } from './network-panel.ts'
import { alarmOf, News } from './news.ts'
import { PauseNote } from './pause-note.ts'
import { PeerReports } from './peer-reports.ts'
import type { Picture } from './picture.ts'
import { PlayersPanel } from './players-panel.ts'
import { ResultsPanel } from './results-panel.ts'
import type { Sabotage } from './sabotage.ts'
import type { Sounds } from './sounds.ts'

/** Milliseconds between two looks through the fog, and two drawings of the minimap. */
const LOOK_MS = 200
const ALARM_MS = 4000
/** For so long Space leads to an alarm. */
const ALARM_KEPT_MS = 10_000
/** Milliseconds between two marks of the coach. */
const COACH_MS = 900
const GOLD = 0xfff2a8
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

/** One match. */
export interface SessionParts {
  readonly room: LockstepRoom<typeof ORDERS>
  readonly stage: Stage
  readonly chronicle: Chronicle
  readonly isReplay: boolean
  /** Undefined: there is no line to break. */
  readonly wire: WeatherWire | undefined
  readonly sabotage: Sabotage
}

export class Session {
  readonly room: LockstepRoom<typeof ORDERS>
  readonly hand: Hand
  /** What the players say of their lines. */
  readonly reports: PeerReports
  /** Units and buildings that were shown to fall. */
  falls = 0
  /** The line to the relay. Undefined: there is none. */
  readonly wire: WeatherWire | undefined
  readonly #stage: Stage
  readonly #hud: Hud
  readonly #controls: Controls
  readonly #lobby: LobbyPanel
  readonly #results: ResultsPanel
  readonly #network: NetworkPanel
  readonly #players: PlayersPanel
  readonly #coach = new Coach()
  readonly #pause: PauseNote
  readonly #news = new News()
  readonly #stop = new AbortController()
  readonly #chronicle: Chronicle
  readonly #isReplay: boolean
  /** What this page receives of a match that the server steps. Undefined: this page steps it. */
  readonly #served: FogWorld | undefined
  #lookedAt = 0
  #alarm: { readonly spot: Spot; readonly at: number } | undefined
  #coachedAt = 0
  #steppedAt = 0
  #drawnAt = 0
  #seat = -1
  #shownVersion = 0
  #hasBegun = false
  #isOver = false
  /** Whether the local seat is out. */
  #isOut = false
  #isStorm = false
  #mapKind = 0
  #name = ''
  readonly #hashes = new Map<Tick, readonly number[]>()

  constructor({ room, stage, chronicle, isReplay, wire, sabotage }: SessionParts) {
    this.room = room
    this.wire = wire
    this.#stage = stage
    this.#chronicle = chronicle
    this.#isReplay = isReplay
    this.#served = (room as { readonly fogWorld?: FogWorld }).fogWorld
    const { picture, sounds, minimap } = stage
    this.hand = new Hand(room, picture, sounds)
    this.reports = new PeerReports(room, (tick) => this.#hashes.get(tick))
    this.#hud = new Hud(this.hand)
    this.#controls = new Controls(element<HTMLCanvasElement>('screen'), this.hand, element('box'))
    this.#lobby = new LobbyPanel(room)
    this.#results = new ResultsPanel(chronicle, () => stage.onReplay(room), () => this.end())
    this.#network = new NetworkPanel({
      room, reports: this.reports, wire, sabotage, isServed: this.#served !== undefined,
    })
    this.#players = new PlayersPanel(room, this.reports, () => this.end())
    this.#pause = new PauseNote(room)
    this.#controls.onKey = (event) => this.#key(event)
    this.hand.onRefused = (reason) => this.#hud.say(reason)
    const forget = room.onContinued(() => this.#hud.say('The relay was lost. The match goes on at another one.'))
    this.#stop.signal.addEventListener('abort', forget)
    minimap.onOrder = (spot) => this.hand.commandAt(spot, false)
    minimap.onAim = (spot) => this.hand.useAimAt(spot, false)
    picture.memory.clear()
    picture.fog.forget()
    picture.camera.showMap()
    element('hud').hidden = false
    document.body.classList.toggle('is-replay', isReplay)
    // Pauses, speeds, replays and desyncs are of lockstep.
    document.body.classList.toggle('is-served', this.#served !== undefined)
    this.#listen()
    room.play({ draw: (world) => this.#draw(world) })
  }

  /** Gives the order that sets the name of the local player, as soon as this page has drawn the map. */
  introduce(name: string): void {
    this.#name = name
  }

  /** Call it after every tick: it notes where everything is, and shows what happened. */
  noteTick(world: World): void {
    this.#steppedAt = performance.now()
    this.#chronicle.note(world)
    this.#network.noteTick(this.#steppedAt)
    const [low = 0, high = 0] = this.room.runner.hash.value
    this.#hashes.set(world.tick, [low, high])
    this.#hashes.delete(world.tick - HASHES_KEPT)
    this.reports.noteTick(world.tick)
    const { memory } = this.#stage.picture
    // What stood on the map before did not fall.
    if (mapKindOf(world) !== this.#mapKind) memory.clear()
    this.#mapKind = mapKindOf(world)
    memory.note(world, (happening) => this.#show(happening))
  }

  /** Call it for every event of a tick. */
  noteEvent(event: TickEvent): void {
    this.#pause.note(event)
  }

  /** The hash after a tick, for tests and for players that compare their screens. The last 600 are kept. */
  hashAt(tick: Tick): string | undefined {
    return this.#hashes.get(tick)?.join('.')
  }

  /** Marks of orders on the ground. */
  get markers(): number {
    return this.#stage.picture.effects.markers
  }

  /** The own order that was given last, and what became of it. */
  get lastOrder(): OwnOrder | undefined {
    return this.#network.lastOrder
  }

  /** Whether the map of the match is drawn. */
  get hasMap(): boolean {
    return this.#stage.picture.hasMap(this.room.world)
  }

  /** What the local team sees and has seen. */
  get fog(): Fog {
    return this.#stage.picture.fog
  }

  get drawCalls(): number {
    return this.#stage.picture.drawCalls
  }

  /** The worlds of two players differed. It is an error of the page too, so that no test overlooks a repair. */
  showDesync(report: DesyncReport): void {
    const outcomes = report.diverged.map(({ player, outcome }) => `player ${player} ${outcome}`)
    console.error(`desync in tick ${report.tick}, judged by ${report.verdict}: ${outcomes.join(', ')}`)
    this.#network.showDesync(report)
  }

  /** Leaves the match, and takes its parts off the screen. */
  end(problem?: string): void {
    if (this.#stop.signal.aborted) return
    this.#stop.abort()
    for (const part of [this.#controls, this.#lobby, this.#results, this.#network, this.#players, this.#coach,
      this.reports]) part.stop()
    element('hud').hidden = true
    this.room.leave()
    this.#stage.onMenu(problem)
  }

  #listen(): void {
    const { signal } = this.#stop
    const { room, hand } = this
    void room.closed.then(({ code }) => {
      if (this.#isReplay || this.#results.isShown) return
      this.end(code === 'left' ? undefined : `The match is over: ${code}.`)
    })
    // A button that keeps the focus would take the next key.
    const click = (id: string, act: () => void): void => element(id).addEventListener('click', () => {
      element(id).blur()
      act()
    }, { signal })
    click('pause', () => this.#pause.toggle())
    click('idle', () => hand.nextWorker())
    click('fighters', () => hand.selectArmy())
    click('home', () => hand.goHome())
    click('talk', () => this.#talk())
    element('say').addEventListener('submit', (event) => {
      event.preventDefault()
      const field = element<HTMLInputElement>('say-text')
      if (field.value.trim() !== '') room.order(Say, { text: field.value.trim() })
      field.value = ''
      element('say').hidden = true
    }, { signal })
  }

  #talk(): void {
    element('say').hidden = false
    element('say-text').focus()
  }

  #key(event: KeyboardEvent): void {
    const key = event.key.toLowerCase()
    if (key === ' ' || key === 'tab' || key === 'enter') event.preventDefault()
    if (key === ' ') this.#lookThere()
    else if (key === 'tab') this.#players.toggle()
    else if (key === 'enter') this.#talk()
    else if (key === 'p') this.#pause.toggle()
    else if (key === 'h') element('keys').hidden = !element('keys').hidden
    else if (key === 'n') element('net').click()
    else if (key === 'm') element('mute').click()
  }

  /** To the last alarm, or else to what is selected. */
  #lookThere(): void {
    const isNew = this.#alarm !== undefined && performance.now() - this.#alarm.at < ALARM_KEPT_MS
    if (isNew) this.#stage.picture.camera.lookAt(this.#alarm!.spot)
    else this.hand.showSelection()
    this.#alarm = undefined
  }

  #draw(world: World): void {
    if (this.#stop.signal.aborted) return
    const now = performance.now()
    const { picture } = this.#stage
    if (!picture.quality.isDue(now)) return
    const { seat, selection } = this.hand
    if (seat !== this.#seat) this.#begin(world, seat)
    const speed = this.room.runner.roster.speedPercent / 100
    const alpha = Math.min(1, ((now - this.#steppedAt) * speed) / TICK_MS)
    this.#controls.update(Math.min(0.1, (now - this.#drawnAt) / 1000))
    this.#drawnAt = now
    if (now - this.#lookedAt > LOOK_MS) this.#look(world, now)
    else if (selection.version !== this.#shownVersion) this.#hud.update(world)
    this.#shownVersion = selection.version
    picture.draw(world, { seat, selected: selection.ids, plan: this.hand.plan, alpha, isStorm: this.#isStorm }, now)
  }

  /** What changes slowly: fog, minimap, numbers, panels. */
  #look(world: World, now: number): void {
    this.#lookedAt = now
    const { picture, minimap } = this.#stage
    const seat = this.#seat
    this.#noteState(world)
    picture.fog.isOff = seat < 0 || this.#isOver || this.#isOut
    picture.look(world, Math.max(0, seat))
    minimap.draw(world, picture.fog, picture.camera, seat, now)
    const isLoaded = this.room.runner.hasBegun && picture.hasMap(world)
    if (isLoaded && seat >= 0) this.#greet()
    this.#hud.update(world)
    this.#lobby.update(world, isLoaded)
    this.#results.update(world, seat)
    this.#network.update(now)
    this.#players.update(world, seat, this.#hasBegun && !this.#isOver, now)
    const place = this.#coach.update(world, seat, this.#hasBegun && !this.#isOver && !this.#isReplay && !this.#isOut)
    if (place === undefined || now - this.#coachedAt < COACH_MS) return
    this.#coachedAt = now
    picture.effects.mark(place.x, place.y, GOLD, 1.8)
    minimap.alarm(place.x, place.y, now - 1700, '#fff2a8')
  }

  #greet(): void {
    if (this.#name === '') return
    this.room.order(Introduce, { name: this.#name })
    this.#name = ''
  }

  /** The local seat is known, or is another one: looks at its headquarters. */
  #begin(world: World, seat: number): void {
    this.#seat = seat
    this.#stage.picture.fog.forget()
    this.#lookedAt = 0
    const start = makeMap(world.seed, mapKindOf(world)).starts[Math.max(0, seat)]!
    const { camera } = this.#stage.picture
    camera.lookAt({ x: columnOf(start), y: rowOf(start) + 2 })
    // A narrow screen shows as many cells as a wide one from farther away.
    camera.height = innerWidth < 760 ? 30 : 20
  }

  #noteState(world: World): void {
    for (const { beganAt, winner } of world.each(Match)) {
      if (beganAt !== 0 && !this.#hasBegun) this.#stage.sounds.play('ready')
      this.#hasBegun = beganAt !== 0
      const hasEnded = winner !== 0
      if (hasEnded && !this.#isOver && this.#seat >= 0)
        this.#stage.sounds.play([...world.each(Seat)][this.#seat]?.team === winner - 1 ? 'won' : 'lost')
      this.#isOver = hasEnded
      this.#isStorm = beganAt !== 0 && !hasEnded && world.tick - beganAt >= STORM_AT
    }
    const seats = [...world.each(Seat)]
    const isOut = this.#hasBegun && seats[this.#seat]?.isOut === true
    if (isOut && !this.#isOut && !this.#isOver) this.#stage.sounds.play('lost')
    this.#isOut = isOut
    const news = this.#hasBegun && !this.#isOver ? this.#news.next(world, this.#seat, this.#isStorm) : ''
    if (news !== '') this.#tell(news)
    // The banner of the connection says the rest.
    if (this.room.isAway) return
    const { roster } = this.room.runner
    const away = seats.filter(({ player }) => player !== 0 && roster.isAway(player)).map(({ name }) => name)
    const isObserving = this.#seat < 0 && !this.#isReplay && this.room.runner.hasBegun
    const notice = roster.isPaused ? this.#pause.text(world)
      : away.length > 0 ? `Away: ${away.join(', ')}` : isObserving ? this.#watching
        : isOut && !this.#isOver ? this.#outNote : ''
    setText(element('notice'), notice)
    setText(element('pause'), roster.isPaused ? 'resume' : 'pause')
  }

  get #outNote(): string {
    return `You are out.${this.#served === undefined ? ' You see all now.' : ''} Watch on, or leave.`
  }

  #tell(news: string): void {
    this.#hud.say(news, true)
    this.#stage.sounds.play('news')
  }

  get #watching(): string {
    return this.#served === undefined ? 'You watch, some seconds later'
      : 'You watch. The server shows units to their teams only, and to all when the match is over'
  }

  #show(happening: Happening): void {
    // A unit that leaves the sight only vanishes.
    if (happening.kind === 'fall' && this.#served?.hasFallen(happening) === false) return
    const { picture, sounds } = this.#stage
    const isVisible = picture.fog.isVisible(happening.x, happening.y)
    if (isVisible) picture.effects.show(happening)
    if (isVisible && happening.kind === 'fall') this.falls++
    const near = Math.hypot(happening.x - picture.camera.x, happening.y - picture.camera.y)
    const loudness = isVisible ? Math.max(0, 1 - near / 34) : 0
    if (happening.kind === 'shot') {
      sounds.play(happening.weapon === 4 ? 'shell' : 'shot', loudness)
      if (happening.at === this.#seat && happening.by !== this.#seat) this.#warn(happening.toX, happening.toY)
    } else if (happening.kind === 'fall') sounds.play('fall', loudness)
    else if (happening.seat === this.#seat && this.#hasBegun) sounds.play('ready', 0.6)
  }

  /** Something of the player is shot at. */
  #warn(x: number, y: number): void {
    const now = performance.now()
    if (this.#alarm !== undefined && now - this.#alarm.at < ALARM_MS) return
    this.#alarm = { spot: { x, y }, at: now }
    const { picture: { camera }, minimap, sounds } = this.#stage
    minimap.alarm(x, y, now)
    if (Math.hypot(x - camera.x, y - camera.y) < 18) return
    sounds.play('alarm')
    this.#hud.say(alarmOf(this.room.world, this.#seat, x, y))
  }
}
