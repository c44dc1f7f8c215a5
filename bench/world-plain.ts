/** The plain object that the world bench compares handles with. */

/** An object with the fields of the bench's entity, as a game without an engine would write it. */
export interface Plain {
  id: number
  x: number
  y: number
  z: number
  vx: number
  vy: number
  vz: number
  heading: number
  pitch: number
  hp: number
  armor: number
  ammo: number
  weapon: number
  team: number
  level: number
  score: number
  kills: number
  isCrouched: boolean
  isFiring: boolean
  isReady: boolean
  charge: number
}

/** `id` comes first: otherwise the object would share the hidden class of the entity's objects, and be slow. */
export function makePlain(): Plain {
  return {
    id: 0,
    x: 0.5, y: 0.5, z: 0.5, vx: 0.5, vy: 0.5, vz: 0.5, heading: 0.5, pitch: 0.5,
    hp: 1, armor: 1, ammo: 1, weapon: 1, team: 1, level: 1, score: 1, kills: 1,
    isCrouched: true, isFiring: false, isReady: true, charge: 0.5,
  }
}
