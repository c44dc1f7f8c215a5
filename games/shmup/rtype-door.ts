/**
 * R-Type clients in the match: each is a player that the host knows as a bot, and sees what `rtype-looks.ts` declares.
 * Events of the game become packets here.
 */

import type { InitOf, Match as Host, Message, Peer, Shape, ViewOf, World } from 'tickwire'
import {
  RTYPE, RtypeWorldStream, toEffectScale, toThousandths, type RtypePacket, type RtypePeer, type RtypeServerEvent,
} from 'tickwire/rtype'
import {
  Boom, BOSS, CLEARED, Died, Enemy, Fired, Force, Gone, Hurt, input, Level, LOST, Match, Picked, Pilot, PLAYERS_MAX,
    PLAYING,
  Scored, Ship, STICK, TICK_RATE, WIDTH, WON,
} from './definitions.ts'
import { behaviourOf, describeWorld } from './rtype-looks.ts'
import { STAGES } from './waves.ts'

type Held = InitOf<typeof input>

/** What the door needs of a server. */
export interface RtypeSender {
  send(peer: RtypePeer, packet: RtypePacket): void
  kick(peer: RtypePeer): void
}

interface Guest {
  readonly peer: Peer
  held: Held
  /** Whether it was sent GAME_START: from the tick on that has its ship. */
  hasStarted: boolean
}

const EDGE = 60
const FORCE_TICKS = TICK_RATE / 10
const AI_TICKS = TICK_RATE / 2

/** Brings R-Type clients into a match. */
export class RtypeDoor {
  /** Called when a client joined or left, with the number of clients. */
  onCount: (count: number) => void = () => {}
  /** Called when the packets of a tick are queued. */
  onSent: () => void = () => {}
  readonly #host: Host<typeof input>
  readonly #sender: RtypeSender
  readonly #stream: RtypeWorldStream
  readonly #guests = new Map<RtypePeer, Guest>()
  /** The player id of each peer of the host that is an R-Type client. */
  readonly #ids = new Map<number, number>()
  #tick = -1

  constructor(host: Host<typeof input>, sender: RtypeSender) {
    this.#host = host
    this.#sender = sender
    const isVisible = (_: RtypePeer, { components }: { components: readonly object[] }): boolean =>
      components.some((each) => 'posX' in each && Number(each.posX) > -EDGE && Number(each.posX) < WIDTH + EDGE)
    this.#stream = new RtypeWorldStream({ tickRate: TICK_RATE, isVisible })
    this.#listen()
  }

  get clients(): number {
    return this.#guests.size
  }

  handle(event: RtypeServerEvent): void {
    if (event.kind === 'join') this.#join(event.peer, event.replaces)
    else if (event.kind === 'leave') this.#leave(event.peer)
    else {
      const guest = this.#guests.get(event.peer)
      if (guest !== undefined) guest.held = heldOf(event.input.inputState)
    }
  }

  #join(peer: RtypePeer, replaces: RtypePeer | undefined): void {
    const before = replaces === undefined ? undefined : this.#guests.get(replaces)
    if (replaces !== undefined) this.#forget(replaces)
    if (before === undefined && this.#people() >= PLAYERS_MAX) return this.#sender.kick(peer)
    this.onCount(this.#guests.size + 1)
    const guest: Guest = before
      ?? { peer: this.#host.addBot((world, me) => this.#think(world, me)), held: {}, hasStarted: false }
    guest.hasStarted = false
    this.#guests.set(peer, guest)
    this.#ids.set(guest.peer.id, peer.playerId)
    this.#stream.add(peer, before !== undefined)
  }

  #leave(peer: RtypePeer): void {
    const guest = this.#guests.get(peer)
    if (guest === undefined) return
    this.#forget(peer)
    this.#ids.delete(guest.peer.id)
    this.#host.kick(guest.peer)
    this.onCount(this.#guests.size)
  }

  #forget(peer: RtypePeer): void {
    this.#guests.delete(peer)
    this.#stream.remove(peer)
  }

  /** Players that are not bots. */
  #people(): number {
    return [...this.#host.world.each(Pilot)].filter(({ isBot }) => !isBot).length
  }

  /** The host asks for inputs at the start of each tick: then the world is that of the tick before. */
  #think(world: World, me: Peer): Held {
    if (world.tick !== this.#tick) {
      this.#tick = world.tick
      this.#start(world)
      const send = (peer: RtypePeer, packet: RtypePacket): void => this.#sender.send(peer, packet)
      this.#stream.tick((world.tick * 1000) / TICK_RATE, world.tick, describeWorld(world, (id) => this.#idOf(id)), send)
      this.#systems(world)
      this.onSent()
    }
    for (const [{ name }, guest] of this.#guests) {
      if (guest.peer.id !== me.id) continue
      const short = name.slice(0, 16)
      for (const pilot of world.each(Pilot)) if (pilot.peer === me.id && pilot.name !== short) pilot.name = short
      return guest.held
    }
    return {}
  }

  /** GAME_START names the players, so it waits for the ship of its receiver. */
  #start(world: World): void {
    const [match] = world.each(Match)
    const owners = new Set([...world.each(Ship)].map(({ owner }) => owner as number))
    for (const [peer, guest] of this.#guests) {
      if (match === undefined || guest.hasStarted || !owners.has(guest.peer.id)) continue
      guest.hasStarted = true
      this.#sender.send(peer, this.#gameStart(match.level))
      this.#sender.send(peer, levelStart(match.level))
    }
  }

  /** The state of Forces and of bosses, beside their components. */
  #systems(world: World): void {
    if (world.tick % FORCE_TICKS === 0) {
      for (const { id, peer, mode, level, isFiring } of world.each(Force)) {
        const [pilot] = [...world.each(Pilot)].filter((each) => each.peer === peer)
        this.#broadcast({
          type: 'FORCE_STATE', forceEntityId: id, parentShipId: mode === 0 ? 0 : this.#idOf(peer),
            attachmentPoint: mode,
          powerLevel: level, chargePercentage: pilot?.charge ?? 0, isFiring,
        })
      }
    }
    if (world.tick % AI_TICKS !== 0) return
    for (const { id, kind, phase, x, y } of world.each(Enemy)) {
      if (kind !== BOSS) continue
      this.#broadcast({
        type: 'AI_STATE', entityId: id, currentState: phase, behaviorType: behaviourOf(kind, phase), targetEntityId: 0,
        waypointX: Math.round(x), waypointY: Math.round(y), remainingMs: 0,
      })
    }
  }

  #listen(): void {
    const on = <S extends Shape>(message: Message<S>, map: (values: ViewOf<S>) => readonly RtypePacket[]): void => {
      this.#host.onEvent(message, (values) => {
        if (this.#guests.size > 0) for (const packet of map(values)) this.#broadcast(packet)
      })
    }
    on(Fired, ({ shooter, shot, x, y, dx, dy, kind, by }) => [{
      type: 'WEAPON_FIRE', shooterId: by === 0 ? shooter : this.#idOf(by), projectileId: shot, originX: Math.round(x),
      originY: Math.round(y), directionX: toThousandths(dx), directionY: toThousandths(dy), weaponType: kind,
    }])
    on(Hurt, ({ peer, by, damage, health, shield, x, y }) => [{
      type: 'PLAYER_HIT', playerId: this.#idOf(peer), attackerId: by, damage, remainingHealth: health,
      remainingShield: shield, posX: Math.round(x), posY: Math.round(y),
    }])
    on(Died, ({ peer, by, score, x, y }) => {
      this.#stream.noteDestroyed(this.#idOf(peer), RTYPE.DESTROY.KILLED_BY_ENEMY)
      const at = { posX: Math.round(x), posY: Math.round(y) }
      return [{ type: 'PLAYER_DEATH', playerId: this.#idOf(peer), killerId: by, scoreBeforeDeath: score, ...at }]
    })
    on(Scored, ({ peer, score, delta, reason }) => [
      { type: 'SCORE_UPDATE', playerId: this.#idOf(peer), newScore: score, scoreDelta: delta, reason },
    ])
    on(Picked, ({ peer, id, kind, seconds }) => [
      { type: 'POWERUP_PICKUP', playerId: this.#idOf(peer), powerupId: id, powerupType: kind, durationS: seconds },
    ])
    on(Gone, ({ id, reason }) => {
      this.#stream.noteDestroyed(id, reason)
      return []
    })
    on(Boom, ({ x, y, size, hue }) => boom(Math.round(x), Math.round(y), size, hue))
    on(Level, ({ level, state, bonus, seconds }) => this.#control(level, state, bonus, seconds))
  }

  #control(level: number, state: number, bonus: number, seconds: number): RtypePacket[] {
    const [match] = this.#host.world.each(Match)
    const isNew = match !== undefined && match.gameAt === match.startedAt
    if (state === PLAYING) return [...(isNew ? [this.#gameStart(level)] : []), levelStart(level)]
    const complete: RtypePacket = {
      type: 'LEVEL_COMPLETE', completedLevel: level, nextLevel: state === WON ? RTYPE.NO_NEXT_LEVEL : level + 1,
      bonusScore: bonus, completionTimeS: seconds,
    }
    if (state === CLEARED) return [complete]
    const pilots = [...this.#host.world.each(Pilot)]
    const scores = pilots.map(({ score }) => score)
    const end: RtypePacket = {
      type: 'GAME_END', endReason: state === LOST ? RTYPE.END.DEFEAT : RTYPE.END.VICTORY,
      finalScores: [0, 1, 2, 3].map((index) => scores[index] ?? 0),
      winnerIndex: state === WON ? scores.indexOf(Math.max(...scores)) : RTYPE.NO_WINNER,
      playTimeS: Math.floor((this.#host.world.tick - (match?.gameAt ?? 0)) / TICK_RATE),
    }
    return state === WON ? [complete, end] : [end]
  }

  #gameStart(levelId: number): RtypePacket {
    const ids = [...this.#host.world.each(Ship)].map(({ owner }) => this.#idOf(owner)).slice(0, PLAYERS_MAX)
    const playerIds = [0, 1, 2, 3].map((index) => ids[index] ?? 0)
    return { type: 'GAME_START', gameInstanceId: 1, playerCount: ids.length, playerIds, levelId, difficulty: 1 }
  }

  #broadcast(packet: RtypePacket): void {
    for (const [peer, { hasStarted }] of this.#guests) if (hasStarted) this.#sender.send(peer, packet)
  }

  /** Players of pages keep the number of their peer. */
  #idOf(peer: number): number {
    return this.#ids.get(peer) ?? peer
  }
}

function levelStart(level: number): RtypePacket {
  const { name, seconds } = STAGES[level - 1]!
  return { type: 'LEVEL_START', levelId: level, levelName: name, estimatedDurationS: seconds }
}

/** An explosion: light, sound and particles that fade from its colour to nothing. */
function boom(posX: number, posY: number, size: number, hue: number): RtypePacket[] {
  const [r, g, b] = [Math.max(0, 255 - hue), 160, hue]
  return [
    {
      type: 'VISUAL_EFFECT', effectType: 1, posX, posY, durationMs: 300 + size * 4,
      scale: toEffectScale(Math.min(2.5, size / 40)), tintR: r, tintG: g, tintB: b,
    },
    { type: 'AUDIO_EFFECT', effectType: 1, posX, posY, volume: Math.min(255, 80 + size), pitch: Math.max(50,
      130 - size) },
    {
      type: 'PARTICLE_SPAWN', particleSystemId: 1, posX, posY, velX: 0, velY: 0, particleCount: 10 + size,
      lifetimeMs: 600, startR: 255, startG: g, startB: b, endR: 0, endG: 0, endB: 0,
    },
  ]
}

function heldOf(bits: number): Held {
  const { INPUT } = RTYPE
  const has = (bit: number): number => Number((bits & bit) !== 0)
  return {
    side: (has(INPUT.MOVE_RIGHT) - has(INPUT.MOVE_LEFT)) * STICK,
    rise: (has(INPUT.MOVE_DOWN) - has(INPUT.MOVE_UP)) * STICK,
    fire: has(INPUT.FIRE_PRIMARY) === 1,
    charge: has(INPUT.FIRE_SECONDARY) === 1,
    special: has(INPUT.ACTION_SPECIAL) === 1,
  }
}
