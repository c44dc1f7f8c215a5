/**
 * The drawn match: one model for every object in view, a camera, and the player's own gun.
 *
 * It reads a view and writes nothing but three.js objects.
 */

import * as THREE from 'three'
import type { ObjectView, PeerId, View } from 'tickwire'
import { BALL_RADIUS } from '../balls.ts'
import { EYE_HEIGHT } from '../collision.ts'
import { Ball, Fighter, Item, Rocket, Seat, type Weapon } from '../definitions.ts'
import { Effects } from './effects.ts'
import { Ghosts } from './ghosts.ts'
import { GunInHand } from './gun-in-hand.ts'
import {
  buildBall, buildBody, buildItem, buildLabel, buildRocket, disposeLabel, hueColour, type Body,
} from './models.ts'
import type { Settings } from './settings.ts'
import { Stage } from './stage.ts'

/** The camera of a draw: the player it looks from, and the direction. */
export interface Shot {
  /** The player whose body is not drawn, because the camera is inside it; 0 for none. */
  readonly eyesOf: PeerId
  readonly yaw: number
  readonly pitch: number
  /** The position of a free camera. */
  readonly place?: { readonly x: number; readonly y: number; readonly z: number } | undefined
  readonly weapon: Weapon
  readonly isArmed: boolean
}

type FighterView = ObjectView<typeof Fighter>

export class Picture {
  readonly effects: Effects
  readonly gun: GunInHand
  readonly ghosts: Ghosts
  readonly #stage: Stage
  readonly #bodies = new Map<number, Body & { name: string; stride: number }>()
  readonly #rockets = new Map<number, THREE.Group>()
  readonly #items = new Map<number, THREE.Group>()
  readonly #balls = new Map<number, THREE.Mesh>()
  #eyeLift = 0
  #lastFeet = NaN
  #lastEyes: PeerId = 0
  #time = 0

  constructor(canvas: HTMLCanvasElement, settings: Settings, onSlow: () => void = () => {}) {
    this.#stage = new Stage(canvas, settings, onSlow)
    this.effects = new Effects(this.#stage.scene)
    this.gun = new GunInHand(this.#stage.camera)
    this.ghosts = new Ghosts(this.#stage.scene)
  }

  /** The colour of a player's armour. */
  hexOf(hue: number): number {
    return hueColour(hue).getHex()
  }

  draw(view: View, shot: Shot, seconds: number): void {
    this.#time += seconds
    const names = new Map<PeerId, { name: string; hue: number }>()
    for (const { owner, name, hue } of view.each(Seat)) names.set(owner, { name, hue })
    let eyes: FighterView | undefined
    const seen = new Set<number>()
    for (const fighter of view.each(Fighter)) {
      seen.add(fighter.id)
      const isEyes = fighter.owner === shot.eyesOf
      if (isEyes) eyes = fighter
      this.#placeBody(fighter, names.get(fighter.owner) ?? { name: '', hue: 0 }, isEyes, seconds)
    }
    this.#prune(this.#bodies, seen, ({ group }) => group, ({ label }) => disposeLabel(label))
    this.#placeThings(view, seconds)
    this.#placeCamera(eyes, shot, seconds)
    this.gun.update(
      shot.weapon,
      shot.isArmed && eyes !== undefined,
      eyes === undefined ? 0 : Math.hypot(eyes.speed.x, eyes.speed.z),
      Math.abs(eyes?.speed.y ?? 0) < 0.6,
      seconds,
    )
    this.effects.update(seconds)
    this.ghosts.prepare()
    this.#stage.draw(seconds)
  }

  #placeBody(fighter: FighterView, seat: { name: string; hue: number }, isEyes: boolean, seconds: number): void {
    let body = this.#bodies.get(fighter.id)
    if (body === undefined) {
      body = { ...buildBody(seat.hue, seat.name), name: seat.name, stride: 0 }
      this.#stage.scene.add(body.group)
      this.#bodies.set(fighter.id, body)
    }
    if (body.name !== seat.name) {
      body.group.remove(body.label)
      disposeLabel(body.label)
      body.label = buildLabel(seat.name, hueColour(seat.hue))
      body.name = seat.name
      body.group.add(body.label)
    }
    const { group, upper, legs, guns } = body
    group.visible = !isEyes
    group.position.set(fighter.at.x, fighter.at.y, fighter.at.z)
    group.rotation.y = fighter.yaw
    upper.rotation.x = fighter.pitch * 0.55
    guns.forEach((gun, weapon) => { gun.visible = weapon === fighter.weapon })
    const pace = Math.hypot(fighter.speed.x, fighter.speed.z)
    const isInAir = Math.abs(fighter.speed.y) > 1.5
    body.stride += pace * seconds * 1.5
    const swing = isInAir ? 0.5 : Math.min(pace / 8, 1) * 0.85 * Math.sin(body.stride)
    legs[0].rotation.x = swing
    legs[1].rotation.x = isInAir ? -0.25 : -swing
    upper.position.y = 0.82 + (isInAir ? 0.04 : Math.abs(Math.cos(body.stride)) * Math.min(pace / 9, 1) * 0.05)
  }

  #placeThings(view: View, seconds: number): void {
    const seen = new Set<number>()
    for (const { id, at, speed } of view.each(Rocket)) {
      seen.add(id)
      const model = this.#model(this.#rockets, id, buildRocket)
      model.position.set(at.x, at.y, at.z)
      model.lookAt(at.x - speed.x, at.y - speed.y, at.z - speed.z)
      this.effects.sparks(
        { x: at.x - speed.x * 0.012, y: at.y - speed.y * 0.012, z: at.z - speed.z * 0.012 },
        2,
        0xffa040,
        0.7,
        0.45,
      )
    }
    this.#prune(this.#rockets, seen, (model) => model)
    for (const { id, at, kind, isThere } of view.each(Item)) {
      const model = this.#model(this.#items, id, () => buildItem(kind))
      model.position.set(at.x, at.y, at.z)
      const spin = model.getObjectByName('spin')
      if (spin === undefined) continue
      spin.visible = isThere
      spin.rotation.y += seconds * 1.8
      spin.position.y = 0.75 + Math.sin(this.#time * 2 + id) * 0.07
    }
    for (const { id, at, speed } of view.each(Ball)) {
      const model = this.#model(this.#balls, id, () => buildBall(BALL_RADIUS))
      model.position.set(at.x, at.y, at.z)
      const axis = new THREE.Vector3(speed.z, 0, -speed.x)
      const turn = axis.length() * seconds / BALL_RADIUS
      if (turn > 0) model.quaternion.premultiply(new THREE.Quaternion().setFromAxisAngle(axis.normalize(), turn))
    }
  }

  #placeCamera(eyes: FighterView | undefined, shot: Shot, seconds: number): void {
    const { camera } = this.#stage
    if (eyes !== undefined) {
      this.#smoothSteps(eyes, seconds)
      camera.position.set(eyes.at.x, eyes.at.y + EYE_HEIGHT + this.#eyeLift, eyes.at.z)
    } else if (shot.place !== undefined) camera.position.set(shot.place.x, shot.place.y, shot.place.z)
    camera.rotation.set(shot.pitch, shot.yaw, 0, 'YXZ')
  }

  /** Smooths the camera on stairs, where the feet move in steps. */
  #smoothSteps({ at, speed, owner }: FighterView, seconds: number): void {
    const leap = at.y - this.#lastFeet
    const isSame = owner === this.#lastEyes
    if (isSame && Math.abs(leap) > 0.1 && Math.abs(leap) < 0.7 && Math.abs(speed.y) < 1) this.#eyeLift -= leap
    if (!isSame) this.#eyeLift = 0
    this.#eyeLift *= Math.exp(-seconds * 14)
    this.#eyeLift = Math.max(-0.9, Math.min(this.#eyeLift, 0.9))
    this.#lastFeet = at.y
    this.#lastEyes = owner
  }

  #model<M extends THREE.Object3D>(models: Map<number, M>, id: number, build: () => M): M {
    const known = models.get(id)
    if (known !== undefined) return known
    const model = build()
    this.#stage.scene.add(model)
    models.set(id, model)
    return model
  }

  #prune<M>(
    models: Map<number, M>,
    seen: ReadonlySet<number>,
    objectOf: (model: M) => THREE.Object3D,
    dispose: (model: M) => void = () => {},
  ): void {
    for (const [id, model] of models) {
      if (seen.has(id)) continue
      this.#stage.scene.remove(objectOf(model))
      dispose(model)
      models.delete(id)
    }
  }
}
