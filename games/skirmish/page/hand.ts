/** The player's hand: mouse, keyboard and fingers become orders. It answers in the same frame, by marks and sounds. */

import type { ObjectId, World } from 'tickwire'
import type { LockstepRoom } from 'tickwire/lockstep'
import { Building, Crystal, Seat, Unit } from '../definitions.ts'
import { battlefieldOf } from '../battlefield.ts'
import { isFree, queueLength } from '../economy.ts'
import { CELLS, cellAt, columnOf, rowOf, SIZE } from '../map-cells.ts'
import {
  Advance, Attack, Build, Cancel, Gather, Group, Hold, Move, ORDERS, Rally, Stop, Train,
} from '../orders.ts'
import { BUILDINGS, HEADQUARTERS } from '../rules.ts'
import { commandsFor, type Aim, type Command } from './commands.ts'
import type { MapCamera, Spot } from './camera.ts'
import type { Picture } from './picture.ts'
import { Selection } from './selection.ts'
import type { SoundName, Sounds } from './sounds.ts'

const GREEN = 0x7dffa0
const RED = 0xff5a4f
const GOLD = 0xfff2a8
/** Cells around a crystal in which a click means it. */
const CRYSTAL_REACH = 1
/** Units in the queue of a building. */
const QUEUE_MAX = 5

export class Hand {
  readonly selection: Selection
  /** Something could not be done: why. */
  onRefused: (reason: string) => void = () => {}
  /** The cell under the pointer. */
  pointed: Spot = { x: 0, y: 0 }
  readonly #room: LockstepRoom<typeof ORDERS>
  readonly #picture: Picture
  readonly #sounds: Sounds
  #aim: Aim

  constructor(room: LockstepRoom<typeof ORDERS>, picture: Picture, sounds: Sounds) {
    this.#room = room
    this.#picture = picture
    this.#sounds = sounds
    this.selection = new Selection(picture.camera)
  }

  get world(): World {
    return this.#room.world
  }

  /** What the next click does. */
  get aim(): Aim {
    return this.#aim
  }

  set aim(aim: Aim) {
    this.#aim = aim
    this.selection.version++
  }

  /** The local seat; -1: none. */
  get seat(): number {
    const { player } = this.#room
    if (player === 0) return -1
    for (const seat of this.world.each(Seat)) if (seat.player === player) return seat.number
    return -1
  }

  get commands(): Command[] {
    return commandsFor(this.world, this.selection, this.seat)
  }

  /** The building that would be placed under the pointer. */
  get plan(): { readonly kind: number; readonly cell: number; readonly isFree: boolean } | undefined {
    if (this.aim?.kind !== 'build') return undefined
    const kind = this.aim.building
    const { size } = BUILDINGS[kind]!
    const cell = clampCell(this.pointed.x - (size - 1) / 2, this.pointed.y - (size - 1) / 2)
    return { kind, cell, isFree: isFree(battlefieldOf(this.world), kind, cell) }
  }

  /** Picks what is under a pixel. `isMore`: adds to the selection; `isAlike`: all of its kind. */
  select(pixel: Spot, isMore: boolean, isAlike: boolean): void {
    const id = this.#pick(pixel)
    const { selection, world, seat } = this
    const isOwn = world.get(Unit, id)?.seat === seat || world.get(Building, id)?.seat === seat
    if (id !== 0) this.#sounds.play('select')
    if (isAlike && isOwn) selection.replace(selection.alike(world, seat, id))
    else if (isMore && id !== 0) selection.toggle(id)
    else if (!isMore) selection.replace(id === 0 ? [] : [id])
  }

  selectBox(from: Spot, to: Spot, isMore: boolean): void {
    const found = this.selection.inBox(this.world, this.seat, from, to)
    if (found.length > 0) this.#sounds.play('select')
    this.selection.replace(isMore ? [...this.selection.ids, ...found] : found)
  }

  /** Whether a pixel shows something of the local seat. */
  isOwn(pixel: Spot): boolean {
    const id = this.#pick(pixel)
    return (this.world.get(Unit, id)?.seat ?? this.world.get(Building, id)?.seat) === this.seat && id !== 0
  }

  /** The order that fits what is under a pixel: attack, mine, move, or set the rally point. */
  command(pixel: Spot, isQueued: boolean): void {
    const id = this.#pick(pixel)
    this.commandAt(this.#picture.camera.spotAt(pixel.x, pixel.y), isQueued, id)
  }

  /** The same at a place of the map. */
  commandAt(spot: Spot, isQueued: boolean, id: ObjectId = 0): void {
    const { world, seat, selection } = this
    const units = selection.units(world, seat)
    const to = clampCell(spot.x, spot.y)
    if (units.length === 0) {
      const buildings = selection.buildings(world, seat)
      if (buildings.length > 0) this.#give('move', spot, GOLD, this.#room.order(Rally, { buildings, to }))
      return
    }
    const target = world.get(Unit, id)?.seat ?? world.get(Building, id)?.seat
    if (target !== undefined && this.#isEnemy(target))
      return this.#give('attack', spot, RED, this.#room.order(Attack, { units, target: id }))
    const workers = selection.workers(world, seat)
    const crystal = this.#crystalNear(spot)
    if (crystal >= 0 && workers.length > 0) {
      this.#give('move', spot, 0x9fe8ff, this.#room.order(Gather, { units: workers, at: crystal, isQueued }))
      const others = units.filter((unit) => !workers.includes(unit))
      if (others.length > 0) this.#room.order(Move, { units: others, to, isQueued })
      return
    }
    this.#preview(units, spot)
    this.#give('move', spot, GREEN, this.#room.order(Move, { units, to, isQueued }))
  }

  /** A click while a command waits for its place. True: the click was used. */
  useAim(pixel: Spot, isQueued: boolean): boolean {
    return this.useAimAt(this.#picture.camera.spotAt(pixel.x, pixel.y), isQueued)
  }

  /** The same at a place of the map. */
  useAimAt(spot: Spot, isQueued: boolean): boolean {
    const { aim, world, seat, selection } = this
    if (aim === undefined) return false
    this.pointed = spot
    const units = selection.units(world, seat)
    if (aim.kind === 'advance') {
      this.#preview(units, spot)
      const to = clampCell(spot.x, spot.y)
      this.#give('attack', spot, RED, this.#room.order(Advance, { units, to, isQueued }))
      this.aim = undefined
      return true
    }
    const { plan } = this
    const [unit] = selection.workers(world, seat)
    if (plan === undefined || unit === undefined) this.aim = undefined
    else if (!plan.isFree) this.#refuse('Something is in the way here.')
    else {
      this.#give('build', spot, GOLD, this.#room.order(Build, { unit, kind: plan.kind, at: plan.cell }))
      if (!isQueued) this.aim = undefined
    }
    return true
  }

  /** Does what a button says. */
  run({ act, cost = 0 }: Command): void {
    const { world, seat, selection } = this
    const units = selection.units(world, seat)
    const crystals = [...world.each(Seat)][seat]?.crystals ?? 0
    if (cost > crystals) return this.#refuse(`This needs ${cost} crystals. You have ${crystals}.`)
    if (act.kind === 'aim') this.aim = act.aim
    else if (act.kind === 'stop') this.#sound('move', this.#room.order(Stop, { units }))
    else if (act.kind === 'hold') this.#sound('move', this.#room.order(Hold, { units }))
    else {
      const [building] = selection.buildings(world, seat).toSorted((a, b) => this.#queue(a) - this.#queue(b))
      if (building === undefined) return
      if (act.kind === 'train' && queueLength(world.get(Building, building)!) >= QUEUE_MAX)
        return this.#refuse('Five units are in the queue already.')
      if (act.kind === 'train') this.#sound('build', this.#room.order(Train, { building, kind: act.unit }))
      else this.#sound('move', this.#room.order(Cancel, { building }))
    }
  }

  /** Control groups: sets one, or selects it. Selecting it twice moves the camera there. */
  group(number: number, isSetting: boolean): void {
    const { world, seat, selection } = this
    if (isSetting) {
      const units = selection.units(world, seat)
      if (units.length > 0) this.#sound('select', this.#room.order(Group, { units, group: number }))
      return
    }
    const members = selection.group(world, seat, number)
    const isAgain = members.length > 0 && members.every((id) => selection.ids.has(id))
    if (isAgain) this.showSelection()
    if (members.length > 0) selection.replace(members)
  }

  /** Moves the camera to what is selected: to the unit in the middle of a group, so that stragglers do not count. */
  showSelection(): void {
    const [first] = this.selection.ids
    const building = first === undefined ? null : this.world.get(Building, first)
    const units = [...this.selection.ids].flatMap((id) => this.world.get(Unit, id) ?? [])
    const middle = (of: readonly number[]): number => of.toSorted((a, b) => a - b)[of.length >> 1]!
    if (units.length > 0)
      this.#picture.camera.lookAt({ x: middle(units.map(({ x }) => x)), y: middle(units.map(({ y }) => y)) })
    else if (building !== null) this.#picture.camera.lookAt({ x: columnOf(building.at), y: rowOf(building.at) })
  }

  /** Selects a worker that does nothing, or any worker if all of them work. */
  nextWorker(): void {
    const { selection, world, seat } = this
    const idle = selection.idleWorkers(world, seat)
    const all = idle.length > 0 ? idle : selection.allWorkers(world, seat)
    const [first] = selection.ids
    // The next one, by id: another click leads to another worker.
    const id = all.find((each) => each > (first ?? 0)) ?? all[0]
    if (id === undefined) return this.#refuse('You have no worker.')
    this.selection.replace([id])
    this.#sounds.play('select')
    this.showSelection()
  }

  /** Selects all own units that fight. */
  selectArmy(): void {
    const fighters = this.selection.fighters(this.world, this.seat)
    if (fighters.length === 0) return this.#refuse('You have no army yet.')
    this.selection.replace(fighters)
    this.#sounds.play('select')
  }

  /** Selects the first headquarters, and looks there. */
  goHome(): void {
    for (const building of this.world.each(Building)) {
      if (building.seat !== this.seat || building.kind !== HEADQUARTERS) continue
      this.selection.replace([building.id])
      this.#sounds.play('select')
      return this.showSelection()
    }
  }

  get camera(): MapCamera {
    return this.#picture.camera
  }

  #queue(id: ObjectId): number {
    return this.world.get(Building, id)?.queue ?? 0
  }

  #pick(pixel: Spot): ObjectId {
    const { fog } = this.#picture
    return this.selection.pick(this.world, pixel, (x, y) => !fog.isVisible(x, y))
  }

  #isEnemy(seat: number): boolean {
    const teams = [...this.world.each(Seat)].map(({ team }) => team)
    return teams[seat] !== teams[this.seat]
  }

  #crystalNear({ x, y }: Spot): number {
    let [best, least] = [-1, CRYSTAL_REACH + 0.5]
    for (const { at } of this.world.each(Crystal)) {
      const apart = Math.hypot(columnOf(at) + 0.5 - x, rowOf(at) + 0.5 - y)
      if (apart < least) [best, least] = [at, apart]
    }
    return best
  }

  /** Units turn to their goal at once. The simulation turns them when the order is executed. */
  #preview(units: readonly ObjectId[], { x, y }: Spot): void {
    const { memory } = this.#picture
    for (const id of units) {
      const at = id >>> 16
      memory.heading[at] = Math.atan2(x - memory.x[at]!, y - memory.y[at]!)
    }
  }

  #refuse(reason: string): void {
    this.#sounds.play('refuse')
    this.onRefused(reason)
  }

  #give(name: SoundName, { x, y }: Spot, colour: number, result: string): void {
    if (result === 'sent') this.#picture.effects.mark(x, y, colour)
    this.#sound(name, result)
  }

  #sound(name: SoundName, result: string): void {
    if (result === 'sent') this.#sounds.play(name)
    else this.#refuse(result === 'full' ? 'Too many orders at once.' : 'This order is not allowed now.')
  }
}

function clampCell(x: number, y: number): number {
  const inside = (value: number): number => Math.min(SIZE - 1, Math.max(0, Math.floor(value)))
  return Math.min(CELLS - 1, cellAt(inside(x), inside(y)))
}
