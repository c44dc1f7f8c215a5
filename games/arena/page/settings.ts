/** A player's preferences, kept in browser storage if that is allowed. */

export interface Settings {
  name: string
  sensitivity: number
  fov: number
  volume: number
  hasGlow: boolean
  isInverted: boolean
  /** Whether the card with the keys was shown. */
  hasSeenKeys: boolean
}

const KEY = 'tickwire-arena'

/** Whether the device is mostly used by touch. */
export const isTouch: boolean = matchMedia('(pointer: coarse)').matches

/** Whether the player wants less motion on the screen. */
export const isCalm: boolean = matchMedia('(prefers-reduced-motion: reduce)').matches

export function loadSettings(): Settings {
  const fallback: Settings = {
    name: '', sensitivity: 1, fov: isTouch ? 95 : 100, volume: 0.6, hasGlow: !isTouch, isInverted: false,
    hasSeenKeys: false,
  }
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
    // A private window may refuse storage; then settings are not kept.
  }
}
