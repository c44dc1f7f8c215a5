/** The background: a nebula, three layers of stars, and the silhouettes of a level. */

import { wrecksAt } from '../backdrop.ts'
import { HEIGHT, TICK_RATE, WIDTH } from '../definitions.ts'

const SKIES = [['#050a20', '#0d1c4a', '#23164f'], ['#120a12', '#3a1420', '#5a2a14'], ['#06120e', '#0c3a2c', '#2a0f3c']]

/** A number from 0 to 1 that belongs to an index. */
export function scatter(index: number): number {
  const value = Math.sin(index * 127.1 + 311.7) * 43_758.5453
  return value - Math.floor(value)
}

export function drawScenery(pen: CanvasRenderingContext2D, level: number, seconds: number): void {
  const [top, middle, bottom] = SKIES[(level - 1) % SKIES.length]!
  const sky = pen.createLinearGradient(0, 0, 0, HEIGHT)
  sky.addColorStop(0, top!)
  sky.addColorStop(0.55, middle!)
  sky.addColorStop(1, bottom!)
  pen.fillStyle = sky
  pen.fillRect(0, 0, WIDTH, HEIGHT)
  pen.globalCompositeOperation = 'lighter'
  for (let cloud = 0; cloud < 7; cloud++) {
    const x = WIDTH + 260 - ((scatter(cloud) * 1500 + seconds * (14 + cloud * 3)) % (WIDTH + 520))
    const y = scatter(cloud + 20) * HEIGHT
    const radius = 130 + scatter(cloud + 40) * 170
    const glow = pen.createRadialGradient(x, y, 0, x, y, radius)
    glow.addColorStop(0, `hsl(${[215, 12, 150][(level - 1) % 3]! + scatter(cloud + 60) * 70} 75% 50% / 26%)`)
    glow.addColorStop(1, 'transparent')
    pen.fillStyle = glow
    pen.fillRect(x - radius, y - radius, radius * 2, radius * 2)
  }
  for (let star = 0; star < 150; star++) {
    const depth = 1 + (star % 3)
    const x = WIDTH - ((scatter(star) * WIDTH + seconds * depth * 46) % WIDTH)
    const y = scatter(star + 500) * HEIGHT
    const twinkle = 0.35 + 0.4 * Math.sin(seconds * 2 + star) ** 2
    pen.fillStyle = `rgb(190 215 255 / ${twinkle * (0.3 + depth * 0.2)})`
    pen.fillRect(x, y, depth * (depth === 3 ? 3.2 : 1.2), depth * 0.6)
  }
  pen.globalCompositeOperation = 'source-over'
  wrecks(pen, seconds)
  ridges(pen, level, seconds)
}

/** Hulls that drift far behind the field. */
function wrecks(pen: CanvasRenderingContext2D, seconds: number): void {
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

/** Dark shapes along both edges, which pass by. */
function ridges(pen: CanvasRenderingContext2D, level: number, seconds: number): void {
  for (const [pace, tall, shade] of [[60, 46, 0.45], [120, 26, 0.8]] as const) {
    const offset = (seconds * pace) % 80
    const first = Math.floor((seconds * pace) / 80)
    pen.fillStyle = `rgb(2 4 10 / ${shade})`
    for (const side of [0, 1]) {
      pen.beginPath()
      pen.moveTo(-80, side * HEIGHT)
      for (let step = -1; step <= WIDTH / 80 + 2; step++) {
        const height = tall * scatter(first + step + level * 900 + side * 77 + pace)
        pen.lineTo(step * 80 - offset, side === 0 ? height : HEIGHT - height)
      }
      pen.lineTo(WIDTH + 160, side * HEIGHT)
      pen.fill()
    }
  }
}
