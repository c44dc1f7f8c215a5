/**
 * Keyboard, mouse and touch, combined into one input.
 *
 * The view direction is separate from the ticks: the camera follows the hand at once, whatever the tick rate.
 */

import { SHOTGUN, STICK, type Weapon } from '../definitions.ts'
import { isTouch, type Settings } from './settings.ts'

const MOUSE = 0.0022
const FINGER = 0.0055
const PITCH_MAX = 1.54
const STICK_PX = 52
/**
 * A tap counts for this many ticks, and a shot until it has been fired, but no longer than this. That is less than a
 * reload or a jump, so a tap never counts twice, and more than a page's stutter. Ticks that a page catches up with
 * arrive too late for the server.
 */
const TAP_TICKS = 16
const TAP_MS = 400

/** The input that `room.play` sends. */
export interface HeldInput {
  ahead: number
  side: number
  yaw: number
  pitch: number
  jump: boolean
  fire: boolean
  weapon: Weapon
}

export class Controls {
  yaw = 0
  pitch = 0
  /** The shotgun: it hits at once, and its ammunition never ends. */
  weapon: Weapon = SHOTGUN
  /** Whether the game receives the keys; otherwise a menu or the chat line does. */
  isActive = false
  onWeapon: (weapon: Weapon) => void = () => {}
  onPress: (code: string) => void = () => {}
  readonly held: Set<string> = new Set()
  readonly #settings: Settings
  readonly #screen: HTMLElement
  readonly #stick = { id: -1, x: 0, y: 0, ahead: 0, side: 0 }
  readonly #look = { id: -1, x: 0, y: 0 }
  /** Remaining ticks of a tap: a tap that is shorter than a tick, or whose tick ran late, is not lost. */
  readonly #tapped = { fire: 0, jump: 0, fireUntil: 0 }
  /** Whether the gun was fired and is not ready yet, as far as this page knows. */
  isReloading = false
  #isFiring = false
  #touchFire = false
  #touchJump = false

  constructor(screen: HTMLElement, settings: Settings) {
    this.#screen = screen
    this.#settings = settings
    this.#listenToKeys()
    this.#listenToMouse()
    if (isTouch || 'ontouchstart' in window) this.#listenToTouch()
  }

  get isLocked(): boolean {
    return document.pointerLockElement === this.#screen
  }

  /** Requests pointer lock; if it is refused, dragging turns the view. */
  lock(): void {
    if (isTouch) return
    const locked = this.#screen.requestPointerLock() as Promise<void> | undefined
    locked?.catch(() => {})
  }

  release(): void {
    this.held.clear()
    this.#tapped.fire = this.#tapped.jump = this.#tapped.fireUntil = 0
    this.#isFiring = this.#touchFire = this.#touchJump = false
    this.#stick.ahead = this.#stick.side = 0
    if (this.isLocked) document.exitPointerLock()
  }

  choose(weapon: number): void {
    this.weapon = ((weapon % 3 + 3) % 3) as Weapon
    this.onWeapon(this.weapon)
  }

  sample(): HeldInput {
    const { held, yaw, pitch, weapon } = this
    if (!this.isActive) return { ahead: 0, side: 0, yaw, pitch, jump: false, fire: false, weapon }
    const key = (...codes: string[]): number => codes.some((code) => held.has(code)) ? STICK : 0
    return {
      ahead: clamp(key('KeyW', 'ArrowUp') - key('KeyS', 'ArrowDown') + this.#stick.ahead),
      side: clamp(key('KeyD', 'ArrowRight') - key('KeyA', 'ArrowLeft') + this.#stick.side),
      yaw, pitch, weapon,
      jump: this.#tapped.jump-- > 0 || held.has('Space') || this.#touchJump,
      fire:
        this.#tapped.fire-- > 0
        || (!this.isReloading && performance.now() < this.#tapped.fireUntil)
        || this.#isFiring
        || this.#touchFire
        || held.has('ControlLeft'),
    }
  }

  #tap(what: 'fire' | 'jump'): void {
    this.#tapped[what] = TAP_TICKS
    if (what === 'fire') this.#tapped.fireUntil = performance.now() + TAP_MS
  }

  #turn(x: number, y: number, speed: number): void {
    const scale = speed * this.#settings.sensitivity
    this.yaw = (this.yaw - x * scale) % (2 * Math.PI)
    this.pitch = Math.max(-PITCH_MAX, Math.min(this.pitch - (this.#settings.isInverted ? -y : y) * scale, PITCH_MAX))
  }

  #listenToKeys(): void {
    addEventListener('keydown', (event) => {
      if (!this.isActive) {
        if (event.code === 'Escape') this.onPress(event.code)
        return
      }
      if (['Tab', 'Space', 'ArrowUp', 'ArrowDown', 'Enter'].includes(event.code)) event.preventDefault()
      if (event.repeat) return
      this.held.add(event.code)
      if (event.code === 'Space') this.#tap('jump')
      const digit = ['Digit1', 'Digit2', 'Digit3'].indexOf(event.code)
      if (digit >= 0) this.choose(digit)
      this.onPress(event.code)
    })
    addEventListener('keyup', (event) => this.held.delete(event.code))
    addEventListener('blur', () => this.release())
  }

  #listenToMouse(): void {
    let isDragging = false
    this.#screen.addEventListener('mousedown', (event) => {
      if (!this.isActive) return
      isDragging = true
      if (!this.isLocked) this.lock()
      if (event.button === 0) {
        this.#isFiring = true
        this.#tap('fire')
        this.onPress('Fire')
      }
    })
    addEventListener('mouseup', (event) => {
      isDragging = false
      if (event.button === 0) this.#isFiring = false
    })
    addEventListener('mousemove', (event) => {
      if (this.isActive && (this.isLocked || isDragging)) this.#turn(event.movementX, event.movementY, MOUSE)
    })
    addEventListener('wheel', (event) => {
      if (this.isActive) this.choose(this.weapon + Math.sign(event.deltaY))
    }, { passive: true })
    addEventListener('contextmenu', (event) => event.preventDefault())
  }

  /** The left half walks, the right half looks; buttons fire and jump, and a finger on the fire button also looks. */
  #listenToTouch(): void {
    const fire = element('touch-fire')
    const stick = element('stick')
    const knob = stick.firstElementChild as HTMLElement
    hold(element('touch-jump'), (isDown) => {
      this.#touchJump = isDown
      if (isDown) this.#tap('jump')
    })
    hold(element('touch-weapon'), (isDown) => { if (isDown) this.choose(this.weapon + 1) })
    hold(element('top'), (isDown) => {
      if (isDown) this.held.add('Tab')
      else this.held.delete('Tab')
    })
    hold(element('touch-menu'), (isDown) => { if (isDown) this.onPress('Escape') })
    // A phone opens its keyboard only in a click handler.
    element('touch-chat').addEventListener('click', () => this.onPress('Enter'))
    const begin = (event: TouchEvent): void => {
      if (!this.isActive) return
      event.preventDefault()
      for (const touch of event.changedTouches) {
        const isFire = event.currentTarget === fire
        if (isFire) {
          this.#touchFire = true
          this.#tap('fire')
          this.onPress('Fire')
        } else this.onPress(touch.clientX < innerWidth / 2 ? 'TapLeft' : 'TapRight')
        if (!isFire && touch.clientX < innerWidth / 2 && this.#stick.id < 0) {
          Object.assign(this.#stick, { id: touch.identifier, x: touch.clientX, y: touch.clientY })
          Object.assign(stick.style, {
            left: `${touch.clientX}px`,
            top: `${touch.clientY}px`,
            bottom: 'auto',
            opacity: '1',
          })
        } else Object.assign(this.#look, { id: touch.identifier, x: touch.clientX, y: touch.clientY })
      }
    }
    const move = (event: TouchEvent): void => {
      for (const { identifier, clientX, clientY } of event.changedTouches) {
        if (identifier === this.#stick.id) this.#moveStick(clientX, clientY, knob)
        if (identifier !== this.#look.id) continue
        this.#turn(clientX - this.#look.x, clientY - this.#look.y, FINGER)
        Object.assign(this.#look, { x: clientX, y: clientY })
      }
    }
    const end = (event: TouchEvent): void => {
      for (const { identifier, target } of event.changedTouches) {
        if (target === fire) this.#touchFire = false
        if (identifier === this.#look.id) this.#look.id = -1
        if (identifier !== this.#stick.id) continue
        Object.assign(this.#stick, { id: -1, ahead: 0, side: 0 })
        knob.style.transform = ''
        stick.style.opacity = '0.5'
      }
    }
    for (const target of [this.#screen, fire]) {
      target.addEventListener('touchstart', begin, { passive: false })
      target.addEventListener('touchmove', move, { passive: false })
      target.addEventListener('touchend', end)
      target.addEventListener('touchcancel', end)
    }
  }

  #moveStick(x: number, y: number, knob: HTMLElement): void {
    const [dx, dy] = [x - this.#stick.x, y - this.#stick.y]
    const scale = Math.min(1, STICK_PX / Math.max(Math.hypot(dx, dy), 1))
    this.#stick.side = Math.round(dx * scale / STICK_PX * STICK)
    this.#stick.ahead = Math.round(-dy * scale / STICK_PX * STICK)
    knob.style.transform = `translate(${dx * scale}px, ${dy * scale}px)`
  }
}

function hold(button: HTMLElement, tell: (isDown: boolean) => void): void {
  const set = (isDown: boolean) => (event: Event): void => {
    event.preventDefault()
    tell(isDown)
  }
  button.addEventListener('touchstart', set(true), { passive: false })
  button.addEventListener('touchend', set(false), { passive: false })
  button.addEventListener('touchcancel', set(false), { passive: false })
}

function clamp(value: number): number {
  return Math.max(-STICK, Math.min(value, STICK))
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}
