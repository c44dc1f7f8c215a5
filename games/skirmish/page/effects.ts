/** Shots, sparks and markers. They are cosmetic: a slow page draws fewer of them, and the match is the same. */

import * as THREE from 'three'
import { CosmeticPrng } from 'tickwire/browser'
import { effect, SyncedPrng } from './effect-tiers.ts'
import { Flock } from './flock.ts'
import type { Happening } from './memory.ts'
import { SEAT_COLOURS } from './palette.ts'
import { glowTexture } from './textures.ts'

const TRACERS = 256
const SPARKS = 640
const MARKERS = 32
/** Flashes add up: few of them, and faint, or a battle is white. */
const FLASHES = 40
const FLASH_LIGHT = 0.22
const SHOT_S = 0.14
const SHELL_S = 0.7
const MARKER_S = 0.6
const ARTILLERY = 4

interface Tracer { x: number; y: number; toX: number; toY: number; age: number; colour: number; isShell: boolean }
interface SparkBit { x: number; h: number; y: number; vx: number; vh: number; vy: number; age: number; life: number
  size: number; colour: number }
/** Sparks of one place. `most`: how many, if nothing is reduced. */
interface Burst { readonly x: number; readonly y: number; readonly most: number; readonly colour: number
  readonly size: number }
interface Flash { x: number; y: number; age: number; life: number; size: number; colour: number }
interface Marker { x: number; y: number; age: number; colour: number; size: number }

export class Effects {
  readonly group: THREE.Group = new THREE.Group()
  /** Whether flashes are left out, and most sparks. */
  isReduced = false
  readonly #tracers: Tracer[] = []
  readonly #sparks: SparkBit[] = []
  readonly #markers: Marker[] = []
  readonly #flashes: Flash[] = []
  readonly #lines: Flock
  readonly #bits: Flock
  readonly #rings: Flock
  readonly #spots: Flock
  readonly #free = new CosmeticPrng(1)
  /** The sparks of what falls, the same on every page. */
  readonly #fall = effect('fall', 'synced', (dice, burst: Burst) => this.#burst(dice, burst))
  /** The sparks where a shot ends, when this page draws its end. */
  readonly #impact = effect('impact', 'free', (dice, burst: Burst) => this.#burst(dice, burst))

  constructor() {
    const glow = new THREE.MeshBasicMaterial({ transparent: true, blending: THREE.AdditiveBlending, depthWrite: false })
    const line = new THREE.BoxGeometry(0.07, 0.07, 1)
    const ring = new THREE.RingGeometry(0.72, 1, 28)
    ring.rotateX(-Math.PI / 2)
    this.#lines = new Flock(line, glow, TRACERS)
    this.#bits = new Flock(new THREE.IcosahedronGeometry(0.5, 0), glow, SPARKS)
    this.#rings = new Flock(ring, glow, MARKERS)
    const spot = new THREE.PlaneGeometry(2, 2)
    spot.rotateX(-Math.PI / 2)
    this.#spots = new Flock(spot, new THREE.MeshBasicMaterial({ map: glowTexture(), transparent: true,
      blending: THREE.AdditiveBlending, depthWrite: false, depthTest: false }), FLASHES)
    this.#spots.mesh.renderOrder = 4
    this.group.add(this.#spots.mesh, this.#lines.mesh, this.#bits.mesh, this.#rings.mesh)
  }

  show(happening: Happening): void {
    if (happening.kind === 'shot') {
      const isShell = happening.weapon === ARTILLERY
      if (this.#tracers.length < TRACERS)
        this.#tracers.push({ ...happening, age: 0, colour: SEAT_COLOURS[happening.by]!, isShell })
      this.#flash(happening.x, happening.y, isShell ? 1.6 : 0.8, SEAT_COLOURS[happening.by]!, 0.12)
    } else if (happening.kind === 'fall') {
      const isBuilding = happening.size > 0
      this.#fall(new SyncedPrng(happening.id), {
        x: happening.x, y: happening.y, most: isBuilding ? 40 : 12, colour: SEAT_COLOURS[happening.seat]!,
        size: isBuilding ? 2.2 : 1,
      })
      this.#flash(happening.x, happening.y, isBuilding ? 9 : 1.8, 0xffa055, isBuilding ? 0.9 : 0.4)
    }
  }

  /** How many marks are shown. */
  get markers(): number {
    return this.#markers.length
  }

  /** A ring on the ground: an order was given here. */
  mark(x: number, y: number, colour: number, size: number = 0.9): void {
    if (this.#markers.length < MARKERS) this.#markers.push({ x, y, age: 0, colour, size })
  }

  #flash(x: number, y: number, size: number, colour: number, life: number): void {
    if (this.#flashes.length < FLASHES && !this.isReduced) this.#flashes.push({ x, y, age: 0, life, size, colour })
  }

  #burst(dice: CosmeticPrng | SyncedPrng, { x, y, most, colour, size }: Burst): void {
    const count = this.isReduced ? Math.ceil(most / 4) : most
    for (let each = 0; each < count && this.#sparks.length < SPARKS; each++) {
      const [turn, speed] = [dice.float() * 6.283, (0.6 + dice.float() * 2.4) * size]
      this.#sparks.push({
        x, h: 0.4, y, vx: Math.cos(turn) * speed, vh: 1 + dice.float() * 4 * size, vy: Math.sin(turn) * speed,
        age: 0, life: 0.35 + dice.float() * 0.5, size: (0.12 + dice.float() * 0.24) * size,
        colour: each % 3 === 0 ? 0xfff2c8 : each % 3 === 1 ? 0xff8a3c : colour,
      })
    }
  }

  /** Moves on by `seconds`, and draws. */
  draw(seconds: number): void {
    this.#drawTracers(seconds)
    this.#drawSparks(seconds)
    this.#drawFlashes(seconds)
    this.#rings.clear()
    keep(this.#markers, (marker) => {
      marker.age += seconds
      const left = 1 - marker.age / MARKER_S
      if (left <= 0) return false
      this.#rings.add(marker.x, 0.06, marker.y, 0, faded(marker.colour, left), marker.size * (0.4 + left * 0.8))
      return true
    })
    this.#rings.commit()
  }

  #drawFlashes(seconds: number): void {
    this.#spots.clear()
    keep(this.#flashes, (flash) => {
      flash.age += seconds
      const left = 1 - flash.age / flash.life
      if (left <= 0) return false
      const colour = faded(flash.colour, left * FLASH_LIGHT)
      this.#spots.add(flash.x, 0.4, flash.y, 0, colour, flash.size * (1.2 - 0.4 * left))
      return true
    })
    this.#spots.commit()
  }

  #drawTracers(seconds: number): void {
    this.#lines.clear()
    keep(this.#tracers, (tracer) => {
      tracer.age += seconds
      const share = tracer.age / (tracer.isShell ? SHELL_S : SHOT_S)
      const [dx, dy] = [tracer.toX - tracer.x, tracer.toY - tracer.y]
      if (share >= 1) {
        this.#impact(this.#free, {
          x: tracer.toX, y: tracer.toY, most: tracer.isShell ? 10 : 2, colour: tracer.colour,
          size: tracer.isShell ? 1.1 : 0.5,
        })
        if (tracer.isShell) this.#flash(tracer.toX, tracer.toY, 2.4, 0xffa055, 0.35)
        return false
      }
      const [x, y] = [tracer.x + dx * share, tracer.y + dy * share]
      const height = tracer.isShell ? 0.6 + 4 * 3.2 * share * (1 - share) : 0.5
      this.#lines.add(x, height, y, Math.atan2(dx, dy), tracer.colour, tracer.isShell ? 3 : 1, tracer.isShell ? 3 : 1,
        tracer.isShell ? 0.4 : 1.1)
      return true
    })
    this.#lines.commit()
  }

  #drawSparks(seconds: number): void {
    this.#bits.clear()
    keep(this.#sparks, (spark) => {
      spark.age += seconds
      const left = 1 - spark.age / spark.life
      if (left <= 0) return false
      spark.vh -= 9 * seconds
      spark.x += spark.vx * seconds
      spark.y += spark.vy * seconds
      spark.h = Math.max(0.05, spark.h + spark.vh * seconds)
      this.#bits.add(spark.x, spark.h, spark.y, spark.age * 8, faded(spark.colour, left), spark.size * left)
      return true
    })
    this.#bits.commit()
  }
}

/** Additive colours fade by becoming dark. */
function faded(colour: number, share: number): number {
  const part = (shift: number): number => Math.round(((colour >> shift) & 255) * share) << shift
  return part(16) | part(8) | part(0)
}

/** Removes what `isKept` refuses, in place. */
function keep<Thing>(things: Thing[], isKept: (thing: Thing) => boolean): void {
  let count = 0
  for (const thing of things) if (isKept(thing)) things[count++] = thing
  things.length = count
}
