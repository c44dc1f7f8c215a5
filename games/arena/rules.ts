/**
 * What only the authority decides: spawns, items, the end of a match, and chat.
 *
 * All of it depends on the Match object, which clients do not simulate.
 */

import type { Inputs, ObjectOf, Peer, Vec3, World } from 'tickwire'
import { DEATH_SECONDS, seatOf } from './damage.ts'
import { Ball, Chat, Fighter, input, Item, Match, Picked, Ping, Rename, Said, Seat } from './definitions.ts'
import { BALLS, ITEMS, SPAWNS, type SpawnPlace } from './level.ts'

type MatchObject = ObjectOf<typeof Match>
type FighterObject = ObjectOf<typeof Fighter>

export interface MatchLimits {
  readonly frags: number
  readonly seconds: number
}

/** How long the score is shown between two matches. */
const PAUSE_SECONDS = 8
/** The largest number that fits the scoreboard. */
const PING_MS_MAX = 9999
/** As the names of seats are declared. */
const NAME_BYTES_MAX = 16
const PICK_RADIUS = 1.125
/** Seats, items and the end of a match are checked once in this many ticks: 31 ms at 128. */
const LOOK_TICKS = 4
const ITEM_SECONDS = { health: 15, armour: 20, mega: 35, slugs: 20, rockets: 15 } as const

/** Fills an empty world; a world that has a match is left unchanged. */
export function furnish(world: World, limits: MatchLimits, tickRate: number): void {
  for (const _ of world.each(Match)) return
  world.spawn(Match, { phase: 'play', endsAt: world.tick + limits.seconds * tickRate, fragLimit: limits.frags })
  for (const { at, kind } of ITEMS) world.spawn(Item, { at, kind })
  for (const at of BALLS) world.spawn(Ball, { at })
}

/** Gives a new player a seat; its body spawns in the next tick. */
export function seat(world: World, peer: Peer, name: string): void {
  const hue = (world.count(Seat) * 67 + 8) & 255
  const one = world.spawn(Seat, { hue }, peer)
  nameSeat(world, one, clean(name) || `Guest ${peer.id % 1000}`)
}

/** Stores the players' round trip times, measured by the server; `pingOf` is undefined for bots. Not in `step`. */
export function notePings(world: World, pingOf: (peer: number) => number | undefined): void {
  const stale = new Map([...world.each(Ping)].map((ping) => [ping.peer, ping]))
  for (const { owner } of world.each(Seat)) {
    const ms = pingOf(owner)
    if (ms === undefined) continue
    const ping = stale.get(owner) ?? world.spawn(Ping, { peer: owner })
    ping.ms = Math.min(Math.round(ms), PING_MS_MAX)
    stale.delete(owner)
  }
  for (const ping of stale.values()) world.despawn(ping)
}

/** One tick of the authority's part. */
export function referee(
  world: World,
  match: MatchObject,
  inputs: Inputs<typeof input>,
  limits: MatchLimits,
  tickRate: number,
): void {
  hear(world, match, inputs)
  if (match.phase === 'over') {
    if (world.tick >= match.endsAt) restart(world, match, limits, tickRate)
  } else if (world.every(LOOK_TICKS)) {
    const best = leader(world)
    if (world.tick >= match.endsAt || (best !== undefined && best.frags >= match.fragLimit)) {
      match.phase = 'over'
      match.endsAt = world.tick + PAUSE_SECONDS * tickRate
      match.winner = best === undefined ? '' : best.name
    }
  }
  // Each check looks at all fighters, so they are spread over several ticks.
  let turn = 0
  for (const one of world.each(Seat)) if (world.every(LOOK_TICKS, turn++)) seatBody(world, one, tickRate)
  for (const item of world.each(Item)) if (world.every(LOOK_TICKS, turn++)) offer(world, item, tickRate)
}

function leader(world: World): ObjectOf<typeof Seat> | undefined {
  let best: ObjectOf<typeof Seat> | undefined
  for (const one of world.each(Seat)) if (best === undefined || one.frags > best.frags) best = one
  return best
}

function restart(world: World, match: MatchObject, limits: MatchLimits, tickRate: number): void {
  match.phase = 'play'
  match.endsAt = world.tick + limits.seconds * tickRate
  match.winner = ''
  for (const fighter of world.each(Fighter)) world.despawn(fighter)
  for (const one of world.each(Seat)) {
    one.frags = 0
    one.deaths = 0
    one.readyAt = world.tick
  }
  for (const item of world.each(Item)) item.isThere = true
}

function hear(world: World, match: MatchObject, inputs: Inputs<typeof input>): void {
  for (const { from, values } of inputs.messages(Rename)) {
    const one = seatOf(world, from)
    if (one === undefined) continue
    const name = clean(values.name)
    if (name !== '') nameSeat(world, one, name)
  }
  for (const { from, values } of inputs.messages(Chat)) {
    const text = clean(values.text)
    if (text !== '') world.emit(match, Said, { name: seatOf(world, from)?.name ?? '', text })
  }
}

/** Names a seat. Of two players with the same name, the second one is "Ann 2". */
function nameSeat(world: World, one: ObjectOf<typeof Seat>, name: string): void {
  one.name = name
  for (let count = 2; isTaken(world, one); count++) {
    const letters = [...name]
    while (sizeOf(`${letters.join('')} ${count}`) > NAME_BYTES_MAX) letters.pop()
    one.name = `${letters.join('')} ${count}`
  }
}

/** The bytes of a text in UTF-8. */
function sizeOf(text: string): number {
  let bytes = 0
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4
  }
  return bytes
}

function isTaken(world: World, one: ObjectOf<typeof Seat>): boolean {
  for (const other of world.each(Seat)) if (other.id !== one.id && other.name === one.name) return true
  return false
}

/** Reduces a text to one line without unprintable characters. */
function clean(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/g, ' ').replace(/ +/g, ' ').trim()
}

/** Spawns a player that has no body, some time after the last one died. */
function seatBody(world: World, one: ObjectOf<typeof Seat>, tickRate: number): void {
  if (bodyOf(world, one.owner) !== undefined) {
    one.readyAt = 0
    return
  }
  if (one.readyAt === 0) one.readyAt = one.deaths === 0 ? world.tick : world.tick + Math.round(DEATH_SECONDS * tickRate)
  if (world.tick < one.readyAt) return
  const { at, yaw } = freestSpawn(world, one)
  world.spawn(Fighter, { at, yaw, seat: one.id }, one.owner)
}

function bodyOf(world: World, owner: number): FighterObject | undefined {
  for (const fighter of world.each(Fighter)) if (fighter.owner === owner) return fighter
  return undefined
}

/** Of three random spawn points, the one farthest from all fighters. */
function freestSpawn(world: World, one: ObjectOf<typeof Seat>): SpawnPlace {
  let best = SPAWNS[0]!
  let bestRoom = -1
  for (let draw = 0; draw < 3; draw++) {
    const place = SPAWNS[world.random.int(one, 0, SPAWNS.length - 1)]!
    let room = Infinity
    for (const { at } of world.each(Fighter)) room = Math.min(room, squared(at, place.at))
    if (room > bestRoom) [best, bestRoom] = [place, room]
  }
  return best
}

/** Gives an item to a fighter that stands on it, if the fighter needs it. */
function offer(world: World, item: ObjectOf<typeof Item>, tickRate: number): void {
  if (!item.isThere) {
    if (world.tick >= item.backAt) item.isThere = true
    return
  }
  for (const fighter of world.each(Fighter)) {
    if (squared(fighter.at, item.at) > PICK_RADIUS * PICK_RADIUS || !give(fighter, item.kind)) continue
    item.isThere = false
    item.backAt = world.tick + ITEM_SECONDS[item.kind] * tickRate
    world.emit(item, Picked, { kind: item.kind, peer: fighter.owner })
    return
  }
}

function give(fighter: FighterObject, kind: keyof typeof ITEM_SECONDS): boolean {
  const raise = (field: 'health' | 'armour' | 'slugs' | 'rockets', by: number, most: number): boolean => {
    if (fighter[field] >= most) return false
    fighter[field] = Math.min(fighter[field] + by, most)
    return true
  }
  switch (kind) {
    case 'health': return raise('health', 25, 100)
    case 'armour': return raise('armour', 25, 100)
    case 'mega': return raise('armour', 100, 150)
    case 'slugs': return raise('slugs', 5, 20)
    case 'rockets': return raise('rockets', 5, 25)
    default: return kind satisfies never
  }
}

function squared(a: Readonly<Vec3>, b: Readonly<Vec3>): number {
  const [x, y, z] = [a.x - b.x, a.y - b.y, a.z - b.z]
  return x * x + y * y + z * z
}
