/** The keys, on a card over the first match of a player. It leaves when the player has moved and fired. */

import { element } from './hud.ts'
import { saveSettings, type Settings } from './settings.ts'

/** How long it stays after the player has used the keys, and at most. */
const KNOWN_MS = 1500
const SHOWN_MS = 30_000

export class KeyCard {
  readonly #card = element('card')
  readonly #settings: Settings
  #hasMoved = false
  #hasFired = false
  #hiding: ReturnType<typeof setTimeout> | undefined

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** A player begins to play. */
  begin(): void {
    if (!this.#settings.hasSeenKeys) this.#show(SHOWN_MS)
  }

  /** The player pressed something. */
  handlePress(code: string): void {
    if (code === 'KeyH') return this.#card.hidden ? this.#show(SHOWN_MS) : this.hide()
    if (this.#card.hidden) return
    this.#hasMoved ||= /^(Key[WASD]|Arrow\w+|TapLeft)$/.test(code)
    this.#hasFired ||= code === 'Fire'
    if (this.#hasMoved && this.#hasFired) this.#hideIn(KNOWN_MS)
  }

  hide(): void {
    clearTimeout(this.#hiding)
    this.#card.hidden = true
  }

  #show(ms: number): void {
    this.#card.hidden = false
    this.#hasMoved = this.#hasFired = false
    this.#settings.hasSeenKeys = true
    saveSettings(this.#settings)
    this.#hideIn(ms)
  }

  #hideIn(ms: number): void {
    clearTimeout(this.#hiding)
    this.#hiding = setTimeout(() => this.hide(), ms)
  }
}
