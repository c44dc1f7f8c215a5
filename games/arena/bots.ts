/**
 * Bots that run on the server: they fetch items, hunt players that they see, and miss as people do.
 *
 * A bot is a peer like any other: it affects the match only by its inputs. It knows of others only what it could see,
 * after a reaction time. Its aim lags, drifts, and improves the longer it looks at the same player.
 */

import type { InitOf, ObjectView, Peer, Vec3, View, World } from 'tickwire'
import { BOT_SKILLS, type BotLevel, type BotSkill } from './bot-levels.ts'
import { canSee } from './collision.ts'
import { Fighter, input, Item, RAIL, ROCKETS, Seat, SHOTGUN, STICK, type Weapon } from './definitions.ts'
import { Navigation } from './navigation.ts'
import { eyeOf, ROCKET_SPEED } from './weapons.ts'

export type BotInput = InitOf<typeof input>
type FighterObject = ObjectView<typeof Fighter>

/** What a bot sees: the world where it is stepped, or a client's view. */
export type BotSight = Pick<View, 'tick' | 'each'>

const NAMES = [
  'Ada', 'Blaise', 'Curie', 'Dijkstra', 'Euler', 'Fermi', 'Grace', 'Hedy', 'Ising', 'Joule', 'Kepler', 'Lovelace',
  'Mach', 'Noether', 'Ohm', 'Pascal', 'Quine', 'Rhea', 'Shannon', 'Tesla', 'Ulam', 'Volta', 'Wiles', 'Yara',
]

const FORGET_SECONDS = 2.5
const LOOK_TICKS = 4

let navigation: Navigation | undefined

/** Makes the function for `host.addBot`. Each bot has its own random numbers, from `seed`. */
export function createBot(
  seed: number, tickRate: number, level: BotLevel = 'normal',
): (world: World, me: Peer) => BotInput {
  const think = createMind(seed, tickRate, level)
  let isKnown = false
  return (world, me) => {
    isKnown ||= introduce(world, me, NAMES[seed % NAMES.length]!)
    // A writable world is also a readable one.
    return think(world as unknown as BotSight, me)
  }
}

/** Makes the function that decides a bot's input from what it sees, on a server or a client. */
export function createMind(
  seed: number, tickRate: number, level: BotLevel = 'normal',
): (sight: BotSight, me: Peer) => BotInput {
  const bot = new Bot(seed, tickRate, BOT_SKILLS[level])
  return (sight, me) => bot.think(sight, me)
}

function introduce(world: World, me: Peer, name: string): boolean {
  for (const seat of world.each(Seat)) if (seat.owner === me.id) {
    Object.assign(seat, { isBot: true, name })
    return true
  }
  return false
}

class Bot {
  readonly #seconds: number
  readonly #skill: BotSkill
  readonly #navigation: Navigation = (navigation ??= new Navigation())
  #dice: number
  #yaw = 0
  #pitch = 0
  #path: number[] = []
  #goal: Vec3 | undefined
  #planIn = 0
  #body: FighterObject | undefined
  #seen: FighterObject | undefined
  #target = 0
  #seenFor = 0
  #lostFor = Infinity
  #lastSeen: Vec3 | undefined
  #strafe = 1
  #strafeIn = 0
  #error = { yaw: 0, pitch: 0 }
  #errorIn = 0
  #stuckFor = 0
  #weapon: Weapon = ROCKETS
  #weaponIn = 0
  #pauseIn = 0.3

  constructor(seed: number, tickRate: number, skill: BotSkill) {
    this.#skill = skill
    this.#dice = (seed * 2_654_435_761 + 12_345) >>> 0
    this.#seconds = 1 / tickRate
  }

  think(world: BotSight, me: Peer): BotInput {
    const body = this.#body?.isAlive === true && this.#body.owner === me.id ? this.#body : bodyOf(world, me.id)
    this.#body = body
    if (body === undefined) {
      this.#path = []
      this.#target = 0
      this.#seen = undefined
      return {}
    }
    // A bot needs to look no more often than a screen is refreshed.
    if ((world.tick + me.id) % LOOK_TICKS === 0) this.#seen = this.#look(world, body, LOOK_TICKS * this.#seconds)
    const enemy = this.#seen?.isAlive === true ? this.#seen : undefined
    const held: { -readonly [name in keyof BotInput]: BotInput[name] } = { weapon: this.#weapon }
    if (enemy !== undefined) this.#fight(body, enemy, held)
    this.#walk(world, body, held, enemy !== undefined)
    return { ...held, yaw: this.#yaw, pitch: this.#pitch }
  }

  /** The player that it sees, after a reaction time. */
  #look(world: BotSight, body: FighterObject, seconds: number): FighterObject | undefined {
    const eye = eyeOf(body)
    let best: FighterObject | undefined
    let bestDistance = Infinity
    const { mercy } = this.#skill
    const bots = mercy === 1 ? undefined : botsIn(world)
    for (const other of world.each(Fighter)) {
      if (other.owner === body.owner) continue
      const distance =
        Math.hypot(other.at.x - body.at.x, other.at.y - body.at.y, other.at.z - body.at.z)
        * (bots === undefined || bots.has(other.owner) ? 1 : mercy)
      const isKnown = other.id === this.#target
      if (distance > 45 || distance * (isKnown ? 0.6 : 1) >= bestDistance || !canSee(eye, eyeOf(other))) continue
      best = other
      bestDistance = distance * (isKnown ? 0.6 : 1)
    }
    if (best === undefined) {
      this.#lostFor += seconds
      if (this.#lostFor > FORGET_SECONDS) this.#target = 0
      return undefined
    }
    if (best.id !== this.#target) this.#seenFor = 0
    this.#target = best.id
    this.#lostFor = 0
    this.#seenFor += seconds
    this.#lastSeen = { x: best.at.x, y: best.at.y, z: best.at.z }
    return this.#seenFor > this.#skill.reactionSeconds ? best : undefined
  }

  #fight(body: FighterObject, enemy: FighterObject, held: { fire?: boolean; weapon?: number }): void {
    const eye = eyeOf(body)
    const distance = Math.hypot(enemy.at.x - eye.x, enemy.at.y - eye.y, enemy.at.z - eye.z)
    this.#chooseWeapon(body, distance)
    held.weapon = this.#weapon
    const flight = this.#weapon === ROCKETS ? distance / ROCKET_SPEED : 0
    // With rockets it aims at the feet, so that a miss still does damage.
    const height = this.#weapon === ROCKETS && enemy.at.y <= body.at.y + 0.5 ? 0.15 : 1
    const x = enemy.at.x + enemy.speed.x * flight - eye.x
    const y = enemy.at.y + height + Math.max(enemy.speed.y, -4) * flight * 0.4 - eye.y
    const z = enemy.at.z + enemy.speed.z * flight - eye.z
    this.#wander()
    const offYaw = this.#turn(Math.atan2(-x, -z) + this.#error.yaw, Math.atan2(y, Math.hypot(x, z)) + this.#error.pitch)
    held.fire =
      this.#isTriggerHappy()
      && offYaw < (this.#weapon === SHOTGUN ? 0.12 : 0.07)
      && (this.#weapon !== ROCKETS || distance > 2.5)
  }

  /** Adds pauses: people do not shoot at every opportunity. */
  #isTriggerHappy(): boolean {
    this.#pauseIn -= this.#seconds
    const { burstSeconds, pauseSeconds: [least, more] } = this.#skill
    if (this.#pauseIn < -burstSeconds) this.#pauseIn = least + this.#roll() * more
    return this.#pauseIn <= 0
  }

  /** The aim has an error that changes now and then, and shrinks the longer it has looked. */
  #wander(): void {
    this.#errorIn -= this.#seconds
    if (this.#errorIn > 0) return
    this.#errorIn = 0.25 + this.#roll() * 0.4
    const size = this.#skill.errorRadians / (1 + this.#seenFor * this.#skill.focus)
    this.#error = {
      yaw: (this.#roll() + this.#roll() - 1) * size,
      pitch: (this.#roll() + this.#roll() - 1) * size * 0.6,
    }
  }

  #chooseWeapon(body: FighterObject, distance: number): void {
    this.#weaponIn -= this.#seconds
    const isEmpty = this.#weapon === RAIL && body.slugs === 0 || this.#weapon === ROCKETS && body.rockets === 0
    if (this.#weaponIn > 0 && !isEmpty) return
    this.#weaponIn = 1.5 + this.#roll() * 2
    const { hasRail, rocketShare } = this.#skill
    if (hasRail && body.slugs > 0 && distance > 14) this.#weapon = RAIL
    else if (body.rockets > 0 && distance > 5 && this.#roll() < rocketShare) this.#weapon = ROCKETS
    else this.#weapon = SHOTGUN
  }

  /** Turns towards an aim at the speed of a hand. Returns the remaining angle. */
  #turn(yaw: number, pitch: number): number {
    const most = this.#skill.turnSpeed * this.#seconds
    const off = wrapped(yaw - this.#yaw)
    this.#yaw += Math.max(-most, Math.min(off * 0.12, most))
    this.#pitch += Math.max(-most, Math.min((pitch - this.#pitch) * 0.12, most))
    this.#pitch = Math.max(-1.5, Math.min(this.#pitch, 1.5))
    return Math.abs(off)
  }

  #walk(
    world: BotSight,
    body: FighterObject,
    held: { ahead?: number; side?: number; jump?: boolean },
    isFighting: boolean,
  ): void {
    this.#planIn -= this.#seconds
    if (this.#planIn <= 0 || this.#path.length === 0) this.#plan(world, body)
    const spots = this.#navigation.spots
    let next = this.#path[0]
    while (next !== undefined && isReached(body, spots[next]!.at)) {
      this.#path.shift()
      next = this.#path[0]
    }
    const way = next === undefined ? this.#goal : spots[next]!.at
    if (way === undefined) return
    const [x, z] = [way.x - body.at.x, way.z - body.at.z]
    const heading = Math.atan2(-x, -z)
    if (!isFighting) this.#turn(heading, 0)
    const off = wrapped(heading - this.#yaw)
    let [ahead, side] = [Math.cos(off), -Math.sin(off)]
    if (isFighting) {
      this.#dodge()
      side = side * 0.4 + this.#strafe
    }
    const size = Math.max(Math.hypot(ahead, side), 1)
    held.ahead = Math.round(ahead / size * STICK)
    held.side = Math.round(side / size * STICK)
    const isStuck = this.#feelStuck(body)
    const rises = way.y > body.at.y + 0.6
    held.jump =
      isStuck
      || (rises && Math.hypot(x, z) < 2.2)
      || (isFighting ? this.#roll() < 0.6 * this.#seconds : this.#isClearRun(off, body))
  }

  /** On a long straight path people jump. */
  #isClearRun(off: number, body: FighterObject): boolean {
    return (
      this.#path.length > 5
      && Math.abs(off) < 0.2
      && Math.hypot(body.speed.x, body.speed.z) > 8
      && this.#roll() < 0.5 * this.#seconds
    )
  }

  #feelStuck({ speed }: FighterObject): boolean {
    this.#stuckFor = Math.hypot(speed.x, speed.z) < 1.5 ? this.#stuckFor + this.#seconds : 0
    if (this.#stuckFor > 1.2) {
      this.#stuckFor = 0
      this.#planIn = 0
      this.#goal = undefined
    }
    return this.#stuckFor > 0.25
  }

  #dodge(): void {
    this.#strafeIn -= this.#seconds
    if (this.#strafeIn > 0) return
    this.#strafeIn = 0.35 + this.#roll() * 0.8
    this.#strafe = this.#roll() < 0.5 ? -1 : 1
  }

  /** Chooses the next destination: an item it needs, the player it just saw, or anywhere. */
  #plan(world: BotSight, body: FighterObject): void {
    this.#planIn = 1.5 + this.#roll()
    const wanted = this.#want(world, body)
    const isHunting = this.#lastSeen !== undefined && this.#target !== 0 && body.health > 45
    const { spots } = this.#navigation
    const anywhere = spots[Math.floor(this.#roll() * spots.length)]!.at
    if (isHunting && (wanted === undefined || this.#roll() < 0.6)) this.#goal = this.#lastSeen
    else if (wanted !== undefined) this.#goal = wanted
    else if (this.#goal === undefined || this.#path.length === 0) this.#goal = anywhere
    if (this.#goal === undefined) return
    this.#path = this.#navigation.path(this.#navigation.nearest(body.at), this.#navigation.nearest(this.#goal))
    if (this.#path.length === 0 && wanted === undefined) this.#goal = undefined
  }

  #want(world: BotSight, body: FighterObject): Vec3 | undefined {
    let best: Vec3 | undefined
    let bestWorth = 0.02
    for (const item of world.each(Item)) {
      if (!item.isThere) continue
      const distance = Math.hypot(item.at.x - body.at.x, item.at.y - body.at.y, item.at.z - body.at.z) + 4
      const worth = worthOf(item.kind, body) * (0.7 + 0.6 * this.#roll()) / distance
      if (worth <= bestWorth) continue
      best = { x: item.at.x, y: item.at.y, z: item.at.z }
      bestWorth = worth
    }
    return best
  }

  #roll(): number {
    this.#dice = (Math.imul(this.#dice, 1_664_525) + 1_013_904_223) >>> 0
    return (this.#dice >>> 8) / 0x100_0000
  }
}

function worthOf(
  kind: 'health' | 'armour' | 'mega' | 'slugs' | 'rockets',
  { health, armour, slugs, rockets }: FighterObject,
): number {
  switch (kind) {
    case 'health': return health < 100 ? (110 - health) / 40 : 0
    case 'armour': return armour < 100 ? 0.8 : 0
    case 'mega': return armour < 120 ? 1.8 : 0
    case 'slugs': return slugs < 12 ? 1 : 0
    case 'rockets': return rockets < 15 ? 1.1 : 0
    default: return kind satisfies never
  }
}

function isReached({ at }: FighterObject, spot: Vec3): boolean {
  return Math.hypot(spot.x - at.x, spot.z - at.z) < 0.8 && Math.abs(spot.y - at.y) < 1.6
}

function botsIn(world: BotSight): ReadonlySet<number> {
  const bots = new Set<number>()
  for (const { owner, isBot } of world.each(Seat)) if (isBot) bots.add(owner)
  return bots
}

function bodyOf(world: BotSight, owner: number): FighterObject | undefined {
  for (const fighter of world.each(Fighter)) if (fighter.owner === owner) return fighter
  return undefined
}

function wrapped(angle: number): number {
  return angle - Math.round(angle / (2 * Math.PI)) * 2 * Math.PI
}
