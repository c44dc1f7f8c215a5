/** What a player likes, kept by his browser where it lets us. */

export interface Settings {
  name: string
  sensitivity: number
  fov: number
  volume: number
  hasGlow: boolean
}

const KEY = 'tickwire-arena'

/** A finger or a mouse: what the device is mostly used with. */
export const isTouch: boolean = matchMedia('(pointer: coarse)').matches

export function loadSettings(): Settings {
  const fallback: Settings = { name: '', sensitivity: 1, fov: isTouch ? 95 : 100, volume: 0.6, hasGlow: !isTouch }
  try {
    return { ...fallback, ...JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings> }
  } catch {
    return fallback
  }
}

export function saveSettings(settings: Settings): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(settings))
  } catch {
    // A private window may refuse; then it is not remembered.
  }
}
