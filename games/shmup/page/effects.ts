/** Explosions, sparks and floating words: they live in the page alone. */

import type { Frame } from './frame.ts'
import { scatter } from './scenery.ts'
import { glow } from './models.ts'

interface Particle {
  x: number; y: number; vx: number; vy: number; age: number; life: number; size: number; hue: number
}
interface Ring { x: number; y: number; age: number; size: number; hue: number }
interface Word { x: number; y: number; age: number; text: string; colour: string }

const PARTICLES_MAX = 600

export class Effects {
  shake = 0
  flash = 0
  /** How much damage the local ship took just now, 0 to 1. */
  pain = 0
  /** The player asked for less motion: nothing shakes or flashes. */
  isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
  #particles: Particle[] = []
  #rings: Ring[] = []
  #words: Word[] = []
  #drawn = 0

  boom(x: number, y: number, size: number, hue: number): void {
    const count = Math.min(120, 10 + size)
    for (let index = 0; index < count; index++) {
      const [turn, pace] = [this.#draw() * Math.PI * 2, (0.2 + this.#draw()) * (60 + size * 2)]
      this.#add(x, y, Math.cos(turn) * pace, Math.sin(turn) * pace, 0.35 + this.#draw() * (0.4 + size / 160),
        2 + this.#draw() * 3, hue * 1.4 + this.#draw() * 40)
    }
    this.#rings.push({ x, y, age: 0, size: size * 1.5, hue: hue * 1.4 })
    this.shake = Math.min(16, this.shake + size / 16)
    if (size > 100) this.flash = 0.9
  }

  spark(x: number, y: number, hue: number): void {
    for (let index = 0; index < 4; index++) this.#add(x, y, (this.#draw() - 0.7) * 240, (this.#draw() - 0.5) * 240,
      0.2, 2, hue)
  }

  trail(x: number, y: number, hue: number): void {
    this.#add(x, y, -120 - this.#draw() * 80, (this.#draw() - 0.5) * 30, 0.35, 2.5, hue)
  }

  word(x: number, y: number, text: string, colour: string): void {
    this.#words.push({ x, y, age: 0, text, colour })
    if (this.#words.length > 24) this.#words.shift()
  }

  /** Light and pain over the whole window. */
  drawScreen(pen: CanvasRenderingContext2D, { width, height }: Frame): void {
    if (this.flash > 0) {
      pen.fillStyle = `rgb(255 250 240 / ${this.flash * 0.6})`
      pen.fillRect(0, 0, width, height)
    }
    if (this.pain <= 0) return
    const reach = Math.hypot(width, height) / 2
    const edge = pen.createRadialGradient(width / 2, height / 2, reach * 0.55, width / 2, height / 2, reach)
    edge.addColorStop(0, 'transparent')
    edge.addColorStop(1, `rgb(255 40 70 / ${this.pain * 0.55})`)
    pen.fillStyle = edge
    pen.fillRect(0, 0, width, height)
  }

  draw(pen: CanvasRenderingContext2D, seconds: number, frame: Frame): void {
    this.shake = this.isCalm ? 0 : this.shake * 0.9 ** (seconds * 60)
    this.flash = this.isCalm ? 0 : Math.max(0, this.flash - seconds * 1.6)
    this.pain = Math.max(0, this.pain - seconds * 2)
    pen.globalCompositeOperation = 'lighter'
    this.#particles = this.#particles.filter((each) => (each.age += seconds) < each.life)
    for (const each of this.#particles) {
      each.x += each.vx * seconds
      each.y += each.vy * seconds
      each.vx *= 0.985
      each.vy *= 0.985
      const left = 1 - each.age / each.life
      pen.fillStyle = `hsl(${each.hue} 100% ${45 + left * 45}% / ${left})`
      pen.fillRect(each.x - each.size / 2, each.y - each.size / 2, each.size * (0.5 + left), each.size * (0.5 + left))
    }
    this.#rings = this.#rings.filter((ring) => (ring.age += seconds) < 0.5)
    for (const { x, y, age, size, hue } of this.#rings) {
      const grown = age / 0.5
      pen.save()
      pen.translate(x, y)
      if (grown < 0.5) glow(pen, size * (0.5 + grown), `hsl(${hue} 100% 75% / ${0.8 - grown * 1.5})`)
      pen.globalCompositeOperation = 'lighter'
      pen.strokeStyle = `hsl(${hue} 100% 80% / ${1 - grown})`
      pen.lineWidth = 3 * (1 - grown) + 0.5
      pen.beginPath()
      pen.arc(0, 0, size * (0.25 + grown * 0.8), 0, 7)
      pen.stroke()
      pen.restore()
    }
    pen.globalCompositeOperation = 'source-over'
    this.#words = this.#words.filter((word) => (word.age += seconds) < 0.9)
    pen.font = '700 14px system-ui'
    pen.textAlign = 'center'
    for (const { x, y, age, text, colour } of this.#words) {
      pen.globalAlpha = Math.min(1, (0.9 - age) * 3)
      pen.fillStyle = colour
      pen.save()
      pen.translate(x, y)
      frame.level(pen)
      pen.fillText(text, 0, -age * 40)
      pen.restore()
    }
    pen.globalAlpha = 1
  }

  #draw(): number {
    return scatter(this.#drawn++ % 100_000)
  }

  #add(x: number, y: number, vx: number, vy: number, life: number, size: number, hue: number): void {
    if (this.#particles.length < PARTICLES_MAX) this.#particles.push({ x, y, vx, vy, age: 0, life, size, hue })
  }
}
