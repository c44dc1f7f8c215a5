/**
 * Draws a match: units, buildings, crystals, selection, health, and effects over the terrain. It takes about 30 draw
 * calls however many units there are, and makes no GPU object after the start.
 */

import * as THREE from 'three'
import type { ObjectId, World } from 'tickwire'
import { Building, Crystal, mapKindOf, MINING, Seat, Unit } from '../definitions.ts'
import { makeMap } from '../map.ts'
import { columnOf, rowOf } from '../map-cells.ts'
import { BUILDINGS, DEPOSIT, SEATS, UNITS, UNITS_PER_SEAT } from '../rules.ts'
import { MapCamera } from './camera.ts'
import { Effects } from './effects.ts'
import { Flock } from './flock.ts'
import { Fog } from './fog.ts'
import { Memory } from './memory.ts'
import { buildingModels, crystalShape, unitModels } from './models.ts'
import { SEAT_COLOURS } from './palette.ts'
import { isSoftware, Quality } from './quality.ts'
import { buildTerrain } from './terrain.ts'
import { glowTexture } from './textures.ts'

const UNITS_MAX = SEATS * UNITS_PER_SEAT
const BUILDINGS_MAX = 256
const SKY = 0x070b1c
const SUN = 0xffe2c4
const METAL = 0x98a2c0
const SKY_LIGHT = 1.7
const SUN_LIGHT = 2.4
/** Without tone mapping the lights are dimmer. `terrain.ts` has the same light in its colours. */
const DIM = 0.8
const STORM_SUN = 0xc77bff
/** How fast a unit turns to where it looks, in radians a second. */
const TURN = 9
/** Lights of crystals and buildings on the ground. */
const LIGHTS_MAX = 512
/** How far shadows fall, in parts of the height: the sun stands in the south-west. */
const SHADOW_X = 0.32
const SHADOW_Y = -0.22
const OBJECTS = 65_536

/** What the picture shows beside the world. */
export interface Shown {
  /** The local seat; -1: an observer. */
  readonly seat: number
  readonly selected: ReadonlySet<ObjectId>
  /** A building that is about to be placed. */
  readonly plan?: { readonly kind: number; readonly cell: number; readonly isFree: boolean } | undefined
  /** The share of the next tick that has passed, 0 to 1. */
  readonly alpha: number
  /** Whether the storm blows. */
  readonly isStorm?: boolean
}

export class Picture {
  readonly camera: MapCamera = new MapCamera()
  readonly memory: Memory = new Memory()
  readonly fog: Fog = new Fog()
  readonly effects: Effects = new Effects()
  readonly renderer: THREE.WebGLRenderer
  readonly quality: Quality
  readonly #sun = new THREE.DirectionalLight(SUN, SUN_LIGHT)
  readonly #sky = new THREE.HemisphereLight(0xb4c4ff, 0x6a5670, SKY_LIGHT)
  readonly #haze = new THREE.Fog(SKY, 70, 150)
  readonly #scene = new THREE.Scene()
  readonly #units: readonly Flock[]
  readonly #buildings: readonly Flock[]
  readonly #crystals: Flock
  readonly #rings: Flock
  readonly #bars: Flock
  readonly #ghost: Flock
  readonly #shadows: Flock
  readonly #lights: Flock
  /** The heading that is drawn. Indexed by object index. */
  readonly #turned = new Float32Array(OBJECTS)
  #terrain: THREE.Group | undefined
  #terrainSeed = -1
  #terrainKind = 0
  #isBuiltReduced = false
  #lastAt = 0
  #width = 0
  #height = 0

  /** `graphics`: what the player has chosen. Default: reduced where the processor draws, and where it is too slow. */
  constructor(canvas: HTMLCanvasElement, graphics?: 'full' | 'reduced') {
    const isReduced = graphics === undefined ? isSoftware() : graphics === 'reduced'
    this.quality = new Quality(isReduced, graphics !== undefined)
    this.renderer = new THREE.WebGLRenderer({
      canvas, antialias: !isReduced && devicePixelRatio < 2, powerPreference: 'high-performance',
    })
    this.renderer.toneMappingExposure = 1.2
    const scene = this.#scene
    scene.background = new THREE.Color(SKY)
    this.#sun.position.set(-30, 50, 22)
    scene.add(this.#sky, this.#sun, this.effects.group)
    const livery = liveryMaterial()
    this.#units = unitModels().map((model) => this.#add(new Flock(model, livery, UNITS_MAX)))
    this.#buildings = buildingModels().map((model) => this.#add(new Flock(model, livery, BUILDINGS_MAX)))
    this.#crystals = this.#add(new Flock(crystalShape(), new THREE.MeshLambertMaterial({
      color: 0x9fe8ff, emissive: 0x2aa6ff, emissiveIntensity: 0.9, flatShading: true,
    }), BUILDINGS_MAX, false))
    const spot = new THREE.PlaneGeometry(2, 2)
    spot.rotateX(-Math.PI / 2)
    this.#shadows = this.#add(new Flock(spot, new THREE.MeshBasicMaterial({
      color: 0x02030c, alphaMap: glowTexture(), transparent: true, depthWrite: false,
    }), UNITS_MAX + BUILDINGS_MAX, false))
    this.#lights = this.#add(new Flock(spot, new THREE.MeshBasicMaterial({
      map: glowTexture(), transparent: true, blending: THREE.AdditiveBlending, depthWrite: false,
    }), LIGHTS_MAX))
    this.#shadows.mesh.renderOrder = 2
    this.#lights.mesh.renderOrder = 1
    const ring = new THREE.RingGeometry(0.86, 1, 24)
    ring.rotateX(-Math.PI / 2)
    this.#rings = this.#add(new Flock(ring, new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.9,
      depthWrite: false }), 512))
    const bar = new THREE.PlaneGeometry(1, 1)
    bar.rotateX(-Math.PI / 2)
    const overAll = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true })
    this.#bars = this.#add(new Flock(bar, overAll, 2 * UNITS_MAX))
    this.#bars.mesh.renderOrder = 8
    this.#ghost = this.#add(new Flock(new THREE.BoxGeometry(1, 1, 1), new THREE.MeshBasicMaterial({ transparent: true,
      opacity: 0.45, depthWrite: false }), 1))
    this.#apply()
  }

  #add(flock: Flock): Flock {
    this.#scene.add(flock.mesh)
    return flock
  }

  /** The terrain of the map of a world. */
  setMap(world: World): void {
    if (this.hasMap(world)) return
    this.#terrainSeed = world.seed
    this.#terrainKind = mapKindOf(world)
    if (this.#terrain !== undefined) {
      this.#scene.remove(this.#terrain)
      this.#terrain.traverse((part) => {
        if (!(part instanceof THREE.Mesh)) return
        if (part instanceof THREE.InstancedMesh) part.dispose()
        part.geometry.dispose()
        part.material.map?.dispose()
        part.material.dispose()
      })
    }
    this.#terrain = buildTerrain(makeMap(world.seed, this.#terrainKind), this.fog, this.quality.isReduced)
    this.#scene.add(this.#terrain)
  }

  /** Whether the terrain of a world's map is drawn. */
  hasMap(world: World): boolean {
    return this.#terrainSeed === world.seed && this.#terrainKind === mapKindOf(world)
  }

  /** How many draw calls the last frame took. */
  get drawCalls(): number {
    return this.renderer.info.render.calls
  }

  /** Looks where the local team sees, a few times a second. */
  look(world: World, seat: number): void {
    this.fog.begin()
    const teams = new Int8Array(SEATS).fill(-1)
    for (const each of world.each(Seat)) teams[each.number] = each.team
    for (const unit of world.each(Unit)) if (teams[unit.seat] === teams[seat]) this.fog.see(unit.x, unit.y)
    for (const building of world.each(Building)) {
      if (teams[building.seat] === teams[seat]) this.fog.see(columnOf(building.at) + 1, rowOf(building.at) + 1, 10)
    }
    this.fog.end()
    for (const { id, at, kind } of world.each(Building)) {
      const middle = BUILDINGS[kind]!.size / 2
      this.fog.noteBuilding(id, columnOf(at) + middle, rowOf(at) + middle)
    }
  }

  draw(world: World, shown: Shown, now: number): void {
    const passed = (now - this.#lastAt) / 1000
    const seconds = Math.min(0.1, passed)
    if (this.quality.note(now - this.#lastAt)) this.#apply()
    this.#lastAt = now
    this.#blow(shown.isStorm === true, now)
    this.#fit()
    this.setMap(world)
    this.camera.place()
    this.#rings.clear()
    this.#bars.clear()
    this.#shadows.clear()
    this.#lights.clear()
    this.#drawUnits(world, shown, seconds)
    this.#drawBuildings(world, shown)
    this.#drawCrystals(world)
    this.#drawPlan(shown)
    this.#rings.commit()
    this.#bars.commit()
    this.#shadows.commit()
    this.#lights.commit()
    // In full: marks of a slow page would pile up.
    this.effects.draw(Math.min(1, passed))
    this.renderer.render(this.#scene, this.camera.camera)
  }

  #drawUnits(world: World, { seat, selected, alpha }: Shown, seconds: number): void {
    const { memory, fog, quality: { isReduced } } = this
    const { left, right, top, bottom } = this.camera.bounds()
    for (const flock of this.#units) flock.clear()
    for (const unit of world.each(Unit)) {
      const { id } = unit
      const at = id >>> 16
      const x = memory.fromX[at]! + (memory.x[at]! - memory.fromX[at]!) * alpha
      const y = memory.fromY[at]! + (memory.y[at]! - memory.fromY[at]!) * alpha
      if (x < left || x > right || y < top || y > bottom) continue
      const { seat: owner, kind } = unit
      if (owner !== seat && !fog.isVisible(x, y)) continue
      const heading = this.#turn(at, seconds)
      const lift = kind === 2 ? 0.12 : unit.mode === MINING ? Math.abs(Math.sin(world.tick * 0.4 + at)) * 0.08 : 0
      this.#units[kind]!.add(x, lift, y, heading, SEAT_COLOURS[owner]!, 1.45)
      if (!isReduced) this.#shadows.add(x + SHADOW_X * 0.5, 0.03, y + SHADOW_Y * 0.5, 0, 0, kind > 2 ? 0.95 : 0.6)
      const isSelected = selected.has(id)
      if (isSelected) this.#rings.add(x, 0.05, y, 0, owner === seat ? 0x8dffb0 : 0xff7a6c, 0.62 + (kind > 2 ? 0.16 : 0))
      const full = UNITS[kind]!.hp
      if (isSelected || unit.hp < full) this.#bar(x, 1.25, y - 0.35, unit.hp / full, 0.9)
    }
    for (const flock of this.#units) flock.commit()
  }

  /** Turns a unit a little towards where it looks. */
  #turn(at: number, seconds: number): number {
    const full = Math.PI * 2
    let apart = (this.memory.heading[at]! - this.#turned[at]!) % full
    if (apart > Math.PI) apart -= full
    if (apart < -Math.PI) apart += full
    const most = TURN * seconds
    this.#turned[at]! += Math.max(-most, Math.min(most, apart))
    return this.#turned[at]!
  }

  #drawBuildings(world: World, { seat, selected }: Shown): void {
    const { fog } = this
    const { left: west, right: east, top: north, bottom: south } = this.camera.bounds()
    for (const flock of this.#buildings) flock.clear()
    for (const building of world.each(Building)) {
      const { kind, id, seat: owner } = building
      const rule = BUILDINGS[kind]!
      const [x, y] = [columnOf(building.at) + rule.size / 2, rowOf(building.at) + rule.size / 2]
      if (owner !== seat && !fog.isKnown(id)) continue
      if (x < west - 2 || x > east + 2 || y < north - 2 || y > south + 2) continue
      const left = Math.max(0, building.builtAt - world.tick)
      const built = 1 - left / rule.building
      const gun = kind === 3 ? this.memory.heading[id >>> 16]! : 0
      this.#buildings[kind]!.add(x, 0, y, gun, SEAT_COLOURS[owner]!, 1, 0.15 + 0.85 * built, 1)
      if (!this.quality.isReduced) {
        this.#shadows.add(x + SHADOW_X * built, 0.025, y + SHADOW_Y * built, 0, 0, rule.size * 0.95)
        if (left === 0) this.#lights.add(x, 0.02, y, 0, dimmed(SEAT_COLOURS[owner]!), rule.size * 1.5)
      }
      const isSelected = selected.has(id)
      if (isSelected) this.#rings.add(x, 0.05, y, 0, owner === seat ? 0x8dffb0 : 0xff7a6c, rule.size * 0.75)
      if (left > 0) this.#bar(x, 1.4, y - rule.size / 2, built, rule.size, 0xffd27a)
      else if (isSelected || building.hp < rule.hp)
        this.#bar(x, 1.9, y - rule.size / 2, building.hp / rule.hp, rule.size)
      if (isSelected && building.hasRally && owner === seat)
        this.#rings.add(columnOf(building.rally) + 0.5, 0.06, rowOf(building.rally) + 0.5, 0, 0xfff2a8, 0.4)
    }
    for (const flock of this.#buildings) flock.commit()
  }

  #drawCrystals(world: World): void {
    this.#crystals.clear()
    const { left: west, right: east, top: north, bottom: south } = this.camera.bounds()
    for (const { at, left } of world.each(Crystal)) {
      const [x, y] = [columnOf(at) + 0.5, rowOf(at) + 0.5]
      if (x < west || x > east || y < north || y > south || !this.fog.isExplored(x, y)) continue
      this.#crystals.add(x, 0, y, at, 0, 0.75 + (0.5 * left) / DEPOSIT)
      if (!this.quality.isReduced) this.#lights.add(x, 0.03, y, 0, 0x1a5f86, 1.9)
    }
    this.#crystals.commit()
  }

  #drawPlan({ plan }: Shown): void {
    this.#ghost.clear()
    if (plan !== undefined) {
      const { size } = BUILDINGS[plan.kind]!
      const [x, y] = [columnOf(plan.cell) + size / 2, rowOf(plan.cell) + size / 2]
      this.#ghost.add(x, 0.5, y, 0, plan.isFree ? 0x7dffa0 : 0xff5a4f, size, 1, size)
    }
    this.#ghost.commit()
  }

  #bar(x: number, height: number, y: number, share: number, width: number, colour?: number): void {
    const health = share > 0.6 ? 0x62e36f : share > 0.3 ? 0xffc64c : 0xff5544
    this.#bars.add(x, height, y, 0, 0x05070f, width + 0.08, 1, 0.26)
    this.#bars.add(x - (width * (1 - share)) / 2, height, y, 0, colour ?? health, width * share, 1, 0.16)
  }

  /** In a storm the light is violet, and lightning flashes. */
  #blow(isStorm: boolean, now: number): void {
    const isFlash = isStorm && now % 5200 < 130 && now % 60 < 30
    this.#sun.color.setHex(isStorm ? STORM_SUN : SUN)
    this.#sun.intensity = (isFlash ? 7 : isStorm ? 1.9 : SUN_LIGHT) * (this.quality.isReduced ? DIM : 1)
  }

  /** Follows the quality. */
  #apply(): void {
    const { isReduced } = this.quality
    this.renderer.toneMapping = isReduced ? THREE.NoToneMapping : THREE.NeutralToneMapping
    this.#sky.intensity = SKY_LIGHT * (isReduced ? DIM : 1)
    this.#scene.fog = isReduced ? null : this.#haze
    // The terrain is built for one of both.
    if (this.#isBuiltReduced !== isReduced) this.#terrainSeed = -1
    this.#isBuiltReduced = isReduced
    this.effects.isReduced = isReduced
    this.#width = 0
  }

  #fit(): void {
    const { innerWidth: width, innerHeight: height } = window
    if (width === this.#width && height === this.#height) return
    this.#width = width
    this.#height = height
    this.renderer.setPixelRatio(this.quality.ratio)
    this.renderer.setSize(width, height, false)
    this.camera.resize(width, height)
  }
}

/** Metal, and paint in the colour of each copy that also shines by itself. */
function liveryMaterial(): THREE.MeshLambertMaterial {
  const material = new THREE.MeshLambertMaterial({ flatShading: true })
  material.onBeforeCompile = (shader) => {
    shader.uniforms['metal'] = { value: new THREE.Color(METAL) }
    shader.vertexShader = shader.vertexShader.replace('#include <common>', `
      #include <common>
      attribute float painted;
      uniform vec3 metal;
      varying float vPainted;`).replace('#include <color_vertex>', `
      #include <color_vertex>
      vPainted = painted;
      vColor.rgb = mix(metal, vColor.rgb, painted);`)
    shader.fragmentShader = shader.fragmentShader.replace('#include <common>', `
      #include <common>
      varying float vPainted;`).replace('#include <emissivemap_fragment>', `
      #include <emissivemap_fragment>
      totalEmissiveRadiance += vColor.rgb * (0.3 * vPainted);`)
  }
  return material
}

/** A quarter as bright. */
function dimmed(colour: number): number {
  return (colour >> 2) & 0x3f3f3f
}
