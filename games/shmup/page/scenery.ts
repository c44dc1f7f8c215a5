/** The background: a sky with a planet, nebulae, stars, wrecks, and the walls of a level with glowing edges. */

import { wrecksAt } from '../backdrop.ts'
import { HEIGHT, TICK_RATE } from '../definitions.ts'
import type { Bounds } from './frame.ts'

type Pen = CanvasRenderingContext2D

interface Sky {
  readonly colours: readonly [string, string, string]
  /** The hue of nebulae. */
  readonly hue: number
  readonly planet: string
  /** The edges of walls, above and below. */
  readonly edges: readonly [string, string]
}

const SKIES: readonly Sky[] = [
  { colours: ['#050a20', '#0d1c4a', '#23164f'], hue: 215, planet: '#5f8bff', edges: ['#6fe9ff', '#b58bff'] },
  { colours: ['#120a12', '#3a1420', '#5a2a14'], hue: 12, planet: '#ff9a5e', edges: ['#ffb057', '#ff6b7d'] },
  { colours: ['#06120e', '#0c3a2c', '#2a0f3c'], hue: 150, planet: '#6bffb0', edges: ['#6bffb8', '#e07bff'] },
]
const BLOCK = 90

/** A number from 0 to 1 that belongs to an index. */
export function scatter(index: number): number {
  const value = Math.sin(index * 127.1 + 311.7) * 43_758.5453
  return value - Math.floor(value)
}

export function drawScenery(pen: Pen, level: number, seconds: number, bounds: Bounds): void {
  const sky = SKIES[(level - 1) % SKIES.length]!
  const { left, top, right, bottom } = bounds
  const light = pen.createLinearGradient(0, top, 0, bottom)
  sky.colours.forEach((colour, index) => light.addColorStop([0, 0.55, 1][index]!, colour))
  pen.fillStyle = light
  pen.fillRect(left, top, right - left, bottom - top)
  planet(pen, sky, level, seconds, bounds)
  pen.globalCompositeOperation = 'lighter'
  nebulae(pen, sky, seconds, bounds)
  stars(pen, seconds, bounds)
  pen.globalCompositeOperation = 'source-over'
  wrecks(pen, seconds)
  walls(pen, sky, level, seconds, bounds)
}

/** A planet with a ring, which takes minutes to pass. */
function planet(pen: Pen, { planet: colour }: Sky, level: number, seconds: number, { left, right }: Bounds): void {
  const radius = 130 + level * 20
  const span = right - left + 4 * radius
  const x = right + radius * 2 - ((seconds * 5 + span * 0.45) % span)
  const y = HEIGHT * (level % 2 === 0 ? 0.68 : 0.3)
  const ball = pen.createRadialGradient(x - radius * 0.5, y - radius * 0.5, radius * 0.1, x, y, radius)
  ball.addColorStop(0, `${colour}70`)
  ball.addColorStop(0.6, `${colour}26`)
  ball.addColorStop(1, `${colour}08`)
  pen.fillStyle = ball
  pen.beginPath()
  pen.arc(x, y, radius, 0, 7)
  pen.fill()
  for (const [far, alpha] of [[1.5, '38'], [1.62, '20'], [1.8, '14']] as const) {
    pen.strokeStyle = `${colour}${alpha}`
    pen.lineWidth = 6
    pen.beginPath()
    pen.ellipse(x, y, radius * far, radius * far * 0.22, -0.35, -0.4, Math.PI + 0.4)
    pen.stroke()
  }
}

function nebulae(pen: Pen, { hue }: Sky, seconds: number, { left, right, top, bottom }: Bounds): void {
  const span = right - left + 520
  for (let cloud = 0; cloud < 7; cloud++) {
    const x = right + 260 - ((scatter(cloud) * 1500 + seconds * (14 + cloud * 3)) % span)
    const y = top + scatter(cloud + 20) * (bottom - top)
    const radius = 130 + scatter(cloud + 40) * 170
    const glow = pen.createRadialGradient(x, y, 0, x, y, radius)
    glow.addColorStop(0, `hsl(${hue + scatter(cloud + 60) * 60} 75% 50% / 24%)`)
    glow.addColorStop(1, 'transparent')
    pen.fillStyle = glow
    pen.fillRect(x - radius, y - radius, radius * 2, radius * 2)
  }
}

function stars(pen: Pen, seconds: number, { left, right, top, bottom }: Bounds): void {
  const [wide, tall] = [right - left, bottom - top]
  for (let star = 0; star < 170; star++) {
    const depth = 1 + (star % 3)
    const x = right - ((scatter(star) * wide + seconds * depth * 46) % wide)
    const y = top + scatter(star + 500) * tall
    const twinkle = 0.35 + 0.5 * Math.sin(seconds * 2 + star) ** 2
    pen.fillStyle = `rgb(200 220 255 / ${twinkle * (0.2 + depth * 0.2)})`
    pen.fillRect(x, y, depth === 3 ? 7 : depth * 1.3, 0.5 + depth * 0.25)
  }
}

/** Hulls that drift far behind the field. */
function wrecks(pen: Pen, seconds: number): void {
  for (const { number, kind, x, y } of wrecksAt(seconds * TICK_RATE)) {
    const size = 34 + kind * 12
    pen.save()
    pen.translate(x, y)
    pen.rotate(number + seconds * (kind - 1) * 0.04)
    pen.fillStyle = 'rgb(150 175 220 / 10%)'
    pen.beginPath()
    for (let corner = 0; corner < 7 + kind; corner++) {
      const angle = (corner / (7 + kind)) * Math.PI * 2
      const far = size * (0.45 + 0.55 * scatter(number * 9 + corner))
      pen.lineTo(Math.cos(angle) * far * 1.5, Math.sin(angle) * far * 0.7)
    }
    pen.fill()
    pen.fillStyle = 'rgb(255 220 150 / 18%)'
    for (let light = 0; light < 3; light++) pen.fillRect(-size * 0.5 + light * size * 0.4, -2, 4, 3)
    pen.restore()
  }
}

/** Blocks along both sides, which pass by: far ones dark, near ones with a glowing edge. */
function walls(pen: Pen, { edges }: Sky, level: number, seconds: number, bounds: Bounds): void {
  for (const [layer, pace, tall] of [[0, 50, 40], [1, 130, 24]] as const) {
    const first = Math.floor((seconds * pace + bounds.left) / BLOCK)
    for (const side of [0, 1] as const) {
      for (let block = first; block * BLOCK - seconds * pace < bounds.right; block++) {
        const chance = scatter(block + level * 900 + side * 77 + pace)
        const [x, high] = [block * BLOCK - seconds * pace, 6 + tall * Math.round(chance * 4) / 4]
        const edge = side === 0 ? high : HEIGHT - high
        pen.fillStyle = layer === 0 ? 'rgb(4 6 18 / 45%)' : 'rgb(9 11 28 / 88%)'
        if (side === 0) pen.fillRect(x, bounds.top, BLOCK + 0.5, edge - bounds.top)
        else pen.fillRect(x, edge, BLOCK + 0.5, bounds.bottom - edge)
        if (layer === 0) continue
        pen.fillStyle = 'rgb(255 255 255 / 5%)'
        pen.fillRect(x, side === 0 ? bounds.top : edge, 1.5, side === 0 ? edge - bounds.top : bounds.bottom - edge)
        trim(pen, x, edge, edges[side], chance)
      }
    }
  }
}

/** A line of light on the edge of a block. */
function trim(pen: Pen, x: number, y: number, colour: string, chance: number): void {
  if (chance < 0.25) return
  pen.globalCompositeOperation = 'lighter'
  pen.fillStyle = `${colour}2a`
  pen.fillRect(x + 3, y - 4, BLOCK - 6, 8)
  pen.fillStyle = `${colour}b0`
  pen.fillRect(x + 3, y - 0.9, BLOCK - 6, 1.8)
  pen.globalCompositeOperation = 'source-over'
}
