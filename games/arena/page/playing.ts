/** One match from the first draw to the last: the camera, the sounds, the texts. */

import { type ObjectView, type PeerId, type View } from 'tickwire'
import {
  Boom, Chat, Fighter, Hurt, Kill, Launched, Match, Picked, RAIL, Rename, ROCKETS, Said, Seat, Shot, SHOTGUN,
  type Weapon,
} from '../definitions.ts'
import { SPAWNS } from '../level.ts'
import type { Controls } from './controls.ts'
import { Hud } from './hud.ts'
import type { Picture } from './picture.ts'
import type { Session } from './session.ts'
import { isCalm } from './settings.ts'
import type { Sounds } from './sounds.ts'

interface Parts {
  readonly session: Session
  /** The name that the player joined with. */
  readonly name: string
  readonly controls: Controls
  readonly hud: Hud
  readonly sounds: Sounds
  /** Undefined if nothing is drawn. */
  readonly picture: Picture | undefined
  readonly tickRate: number
}

type FighterView = ObjectView<typeof Fighter>

const GAINS = {
  health: '+25 health',
  armour: '+25 armour',
  mega: '+100 armour',
  slugs: '+5 slugs',
  rockets: '+5 rockets',
} as const

export class Playing {
  /** Behind a menu the camera moves by itself. */
  isBehindMenu = true
  /** Whether prediction and interpolation are drawn; otherwise the newest state of the server is. */
  isSmooth = true
  /** The view that was drawn last. */
  view: View | undefined
  /** Counters for tests: draws, and received kills and hits. */
  readonly counts: { draws: number; kills: number; hits: number } = { draws: 0, kills: 0, hits: 0 }
  readonly #parts: Parts
  #drawnAt = performance.now()
  /** The player that a spectator follows. */
  following: PeerId = 0
  #name: string
  #isAsking = false
  #isOver = false
  #bodyId = 0
  #place = { x: 0, y: 14, z: 30 }
  #killer = ''
  #wasOver = false
  #stride = 0
  #wasOnGround = true

  constructor(parts: Parts) {
    this.#parts = parts
    this.#name = parts.name
    this.#listen()
    parts.session.play({
      input: () =>
        this.isBehindMenu
          ? { yaw: parts.controls.yaw, pitch: parts.controls.pitch, weapon: parts.controls.weapon }
          : parts.controls.sample(),
      draw: (view) => this.#draw(view),
      drawGhosts: (truth) => parts.picture?.ghosts.place(truth),
    })
    // A new player has the name that the first one joined with.
    parts.session.onBack((seat) => { if (seat === 'new' && this.#name !== parts.name) this.#sendName() })
  }

  get isWatching(): boolean {
    return this.#parts.session.role === 'spectator'
  }

  leave(): void {
    this.#isOver = true
    this.#parts.session.leave()
  }

  rename(name: string): void {
    if (name === this.#name) return
    this.#name = name
    this.#sendName()
  }

  #sendName(): void {
    if (!this.isWatching) this.#parts.session.send(Rename, { name: this.#name })
  }

  say(text: string): void {
    this.#parts.session.send(Chat, { text })
  }

  /** A spectator follows the next or previous player: the server says which one it is. */
  async follow(whom: 'next' | 'previous'): Promise<void> {
    if (!this.isWatching || this.#isAsking) return
    this.#isAsking = true
    this.following = await this.#parts.session.spectate(whom)
    this.#isAsking = false
  }

  #draw(smooth: View): void {
    if (this.#isOver) return
    const { session, controls, hud, picture, tickRate } = this.#parts
    // Without prediction and interpolation a page can only draw the newest state that it received.
    const view = this.isSmooth ? smooth : session.overlay?.truth() ?? smooth
    this.view = view
    this.counts.draws++
    const now = performance.now()
    const seconds = Math.min((now - this.#drawnAt) / 1000, 0.5)
    this.#drawnAt = now
    const own = fighterOf(view, session.peer)
    if (own !== undefined) this.#handleOwn(own, seconds)
    const watched = this.isWatching ? this.#watched(view) : undefined
    const shown = own ?? watched
    hud.showFighter(shown, own === undefined ? shown?.weapon ?? 0 : controls.weapon, !this.isWatching)
    hud.showMatch(view, tickRate, session.peer)
    hud.showLine(session.rttMs, session.transport)
    this.#announce(view, own)
    if (picture === undefined) return
    const eyes = this.isBehindMenu ? undefined : shown
    const isOwn = eyes !== undefined && eyes === own
    const camera = this.#camera(now, eyes !== undefined)
    const [yaw, pitch] =
      eyes === undefined ? [camera.yaw, camera.pitch] : isOwn ? [controls.yaw, controls.pitch] : [eyes.yaw, eyes.pitch]
    const { x, y, z } = eyes?.at ?? camera.place
    this.#parts.sounds.ear = { x, y, z, yaw }
    picture.draw(view, {
      eyesOf: eyes?.owner ?? 0, yaw, pitch, place: camera.place,
      weapon: (isOwn ? controls.weapon : eyes?.weapon ?? 0) as Weapon, isArmed: eyes !== undefined,
    }, seconds)
  }

  /** The camera while it follows no player: at the place of death, or on an orbit. */
  #camera(now: number, hasEyes: boolean): { place: { x: number; y: number; z: number }; yaw: number; pitch: number } {
    if (!this.isBehindMenu && !this.isWatching && !hasEyes) {
      return {
        place: { ...this.#place, y: this.#place.y + 0.6 },
        yaw: this.#parts.controls.yaw,
        pitch: this.#parts.controls.pitch,
      }
    }
    const turn = isCalm ? 0.6 : now / 14_000
    return { place: { x: Math.sin(turn) * 21, y: 11.5, z: Math.cos(turn) * 21 }, yaw: turn + 0.25, pitch: -0.42 }
  }

  #watched(view: View): FighterView | undefined {
    if (this.following === 0) void this.follow('next')
    return fighterOf(view, this.following)
  }

  /** A new body looks in the direction of its spawn point; a living one makes sounds. */
  #handleOwn(own: FighterView, seconds: number): void {
    const { controls, sounds } = this.#parts
    this.#place = { x: own.at.x, y: own.at.y, z: own.at.z }
    controls.isReloading = own.readyAt > (this.view?.tick ?? 0)
    if (own.id !== this.#bodyId) {
      this.#bodyId = own.id
      const near = SPAWNS.find(({ at }) => Math.hypot(at.x - own.at.x, at.z - own.at.z) < 2)
      if (near !== undefined) [controls.yaw, controls.pitch] = [near.yaw, 0]
    }
    const isOnGround = Math.abs(own.speed.y) < 0.6
    if (this.#wasOnGround && own.speed.y > 5 && own.speed.y < 9) sounds.play('jump')
    this.#wasOnGround = isOnGround
    this.#stride += isOnGround ? Math.hypot(own.speed.x, own.speed.z) * seconds : 0
    if (this.#stride < 2.6) return
    this.#stride = 0
    sounds.play('step')
  }

  #announce(view: View, own: FighterView | undefined): void {
    const { session, hud, tickRate, controls, sounds } = this.#parts
    const [match] = view.each(Match)
    const [seat] = [...view.each(Seat)].filter(({ owner }) => owner === session.peer)
    const isOver = match?.phase === 'over'
    if (isOver && !this.#wasOver) sounds.play('over')
    this.#wasOver = isOver
    const left = (tick: number): number => Math.max(0, Math.ceil((tick - view.tick) / tickRate))
    if (isOver) hud.notice('')
    else if (this.isWatching)
      hud.notice(this.following === 0 ? 'Watching. No players yet.' : `Watching ${nameOf(view, this.following)}`)
    else if (own === undefined && seat !== undefined && seat.deaths > 0)
      hud.notice(`${this.#killer} · back in ${left(seat.readyAt)}`)
    else hud.notice('')
    const isAsked = controls.held.has('Tab') && !this.isBehindMenu
    if (isOver && match !== undefined) {
      const title =
        match.winner === '' ? 'No winner' : match.winner === seat?.name ? 'You win' : `${match.winner} wins`
      hud.showScores(view, session.peer, true, title, `next match in ${left(match.endsAt)}`)
    } else hud.showScores(view, session.peer, isAsked, 'Scores', '')
  }

  #listen(): void {
    const { session, hud, sounds, picture } = this.#parts
    session.onEvent(Shot, ({ peer, weapon, from, to }) => {
      const isOwn = peer === session.peer
      sounds.play(weapon === RAIL ? 'rail' : weapon === ROCKETS ? 'rocket' : 'shotgun', isOwn ? undefined : from)
      if (isOwn) picture?.gun.fire(weapon as Weapon)
      const start = isOwn ? this.#muzzle(from) : from
      if (weapon === RAIL) picture?.effects.rail(start, to, this.#hex(peer))
      if (weapon === SHOTGUN) picture?.effects.tracer(start, to)
    })
    // Only the authority reports damage: there is one hit marker for each damaged player, and none without damage.
    session.onEvent(Hurt, ({ by, victim }) => {
      if (by === session.peer) this.#hit()
      if (victim !== session.peer) return
      sounds.play('hurt')
      const attacker = this.view === undefined ? undefined : fighterOf(this.view, by)
      if (attacker === undefined) return
      const { x, z } = this.#place
      hud.hurtFrom(Math.atan2(x - attacker.at.x, z - attacker.at.z) - this.#parts.controls.yaw)
    })
    session.onEvent(Boom, ({ at }) => {
      sounds.play('boom', at)
      picture?.effects.explosion(at)
    })
    session.onEvent(Kill, ({ killer, victim, weapon, killerPeer, victimPeer, at }) => {
      this.counts.kills++
      const isOwn = killerPeer === session.peer || victimPeer === session.peer
      hud.killed(killer === '' || killerPeer === victimPeer ? undefined : killer, victim, weapon, isOwn)
      picture?.effects.burst(at, this.#hex(victimPeer))
      sounds.play('die', victimPeer === session.peer ? undefined : at)
      if (killerPeer === session.peer && victimPeer !== session.peer) {
        sounds.play('frag')
        hud.gained(`You fragged ${victim}`)
      }
      if (victimPeer === session.peer)
        this.#killer = killerPeer === victimPeer ? 'You fragged yourself' : `Fragged by ${killer}`
    })
    session.onEvent(Picked, ({ peer, kind }) => {
      if (peer !== session.peer) return
      sounds.play('pick')
      hud.gained(GAINS[kind])
    })
    session.onEvent(Launched, ({ at }) => sounds.play('pad', at))
    session.onEvent(Said, ({ name, text }) => hud.said(name, text))
  }

  #hit(): void {
    this.counts.hits++
    this.#parts.hud.marker()
    this.#parts.sounds.play('hit')
  }

  /** The player's own beams begin to the right of and below the eye: nearer, they would fill the screen. */
  #muzzle({ x, y, z }: { readonly x: number; readonly y: number; readonly z: number }): {
    x: number
    y: number
    z: number
  } {
    const { yaw } = this.#parts.controls
    return {
      x: x + Math.cos(yaw) * 0.22 - Math.sin(yaw) * 1.4,
      y: y - 0.1 + Math.sin(this.#parts.controls.pitch) * 1.4,
      z: z - Math.sin(yaw) * 0.22 - Math.cos(yaw) * 1.4,
    }
  }

  #hex(peer: PeerId): number {
    for (const { owner, hue } of this.view?.each(Seat) ?? [])
      if (owner === peer) return this.#parts.picture?.hexOf(hue) ?? 0
    return 0xffffff
  }
}

function fighterOf(view: View, owner: PeerId): FighterView | undefined {
  for (const fighter of view.each(Fighter)) if (fighter.owner === owner) return fighter
  return undefined
}

function nameOf(view: View, owner: PeerId): string {
  for (const seat of view.each(Seat)) if (seat.owner === owner) return seat.name
  return ''
}
