/** How objects look: each is drawn around 0, 0. */

import { BEAM, BOSS, CARRIER, CHASER, KAMIKAZE, MISSILE, ORB, ORBITER, PATROL, ROCK, WEAVER } from '../definitions.ts'
import type { Frame } from './frame.ts'

type Pen = CanvasRenderingContext2D

function shape(pen: Pen, points: readonly number[], fill: string | CanvasGradient, line?: string): void {
  pen.beginPath()
  for (let at = 0; at < points.length; at += 2) pen.lineTo(points[at]!, points[at + 1]!)
  pen.closePath()
  pen.fillStyle = fill
  pen.fill()
  if (line === undefined) return
  pen.strokeStyle = line
  pen.lineWidth = 1.4
  pen.stroke()
}

/** A soft light. */
export function glow(pen: Pen, radius: number, colour: string, strength: number = 1): void {
  const light = pen.createRadialGradient(0, 0, 0, 0, 0, radius)
  light.addColorStop(0, colour)
  light.addColorStop(1, 'transparent')
  pen.globalCompositeOperation = 'lighter'
  pen.globalAlpha *= strength
  pen.fillStyle = light
  pen.fillRect(-radius, -radius, radius * 2, radius * 2)
  pen.globalAlpha /= strength || 1
  pen.globalCompositeOperation = 'source-over'
}

export function drawShip(pen: Pen, hue: number, tilt: number, thrust: number, seconds: number): void {
  pen.save()
  const flame = 16 + thrust * 14 + Math.sin(seconds * 50) * 4
  const fire = pen.createLinearGradient(-18, 0, -18 - flame, 0)
  fire.addColorStop(0, '#fff8d8')
  fire.addColorStop(0.35, `hsl(${hue * 1.4} 100% 65%)`)
  fire.addColorStop(1, 'transparent')
  pen.globalCompositeOperation = 'lighter'
  shape(pen, [-17, -4, -18 - flame, 0, -17, 4], fire)
  pen.globalCompositeOperation = 'source-over'
  pen.scale(1, 1 - Math.abs(tilt) * 0.35)
  const hull = pen.createLinearGradient(0, -14, 0, 14)
  hull.addColorStop(0, `hsl(${hue * 1.4} 75% 78%)`)
  hull.addColorStop(0.5, `hsl(${hue * 1.4} 60% 48%)`)
  hull.addColorStop(1, `hsl(${hue * 1.4} 60% 22%)`)
  shape(pen, [-14, -5, -20, -15, -6, -9, 6, -6, 2, -4], `hsl(${hue * 1.4} 45% 34%)`, '#0008')
  shape(pen, [-14, 5, -20, 15, -6, 9, 6, 6, 2, 4], `hsl(${hue * 1.4} 45% 24%)`, '#0008')
  shape(pen, [26, 0, 8, -6, -14, -7, -18, 0, -14, 7, 8, 6], hull, '#fff5')
  shape(pen, [12, -1, 4, -5, -5, -4, -2, 0], '#bff4ff')
  pen.restore()
}

export function drawForce(pen: Pen, level: number, isFiring: boolean, seconds: number): void {
  glow(pen, 34 + level * 3, 'hsl(28 100% 60% / 55%)')
  const ball = pen.createRadialGradient(-4, -5, 1, 0, 0, 13)
  ball.addColorStop(0, '#fff6d0')
  ball.addColorStop(0.5, '#ff9a3c')
  ball.addColorStop(1, '#8a2a10')
  pen.fillStyle = ball
  pen.beginPath()
  pen.arc(0, 0, 12, 0, 7)
  pen.fill()
  for (let arm = 0; arm < 4; arm++) {
    pen.save()
    pen.rotate(seconds * (isFiring ? 6 : 2) + (arm * Math.PI) / 2)
    shape(pen, [10, -3, 18, 0, 10, 3], '#ffd27a')
    pen.restore()
  }
}

const COLOURS = ['#ff5d6c', '#ff9d4d', '#6fb2ff', '#5fe0a0', '#ff3d3d', '#58d0e8', '#ffd75e', '#8a7c74', '#7a6cff']

export function drawEnemy(
  pen: Pen, kind: number, isHit: boolean, phase: number, health: number, seconds: number, level: number,
): void {
  const colour = isHit ? '#fff' : COLOURS[kind]!
  const dark = isHit ? '#ddd' : '#161226'
  if (kind === BOSS) return drawBoss(pen, isHit, phase, health, seconds, level)
  if (kind === ROCK) return drawRock(pen, isHit, seconds)
  glow(pen, 30, `${COLOURS[kind]!}55`)
  switch (kind) {
    case WEAVER:
      pen.rotate(Math.sin(seconds * 5) * 0.3)
      shape(pen, [-18, 0, 0, -13, 14, -6, 6, 0, 14, 6, 0, 13], colour, dark)
      shape(pen, [-12, 0, -2, -5, -2, 5], dark)
      break
    case ORBITER:
      pen.rotate(seconds * 3)
      for (let arm = 0; arm < 3; arm++) {
        pen.rotate((Math.PI * 2) / 3)
        shape(pen, [4, -5, 19, -8, 15, 3, 5, 5], colour, dark)
      }
      disc(pen, 7, dark, colour)
      break
    case CHASER:
      shape(pen, [-20, 0, -4, -7, 12, -16, 8, 0, 12, 16, -4, 7], colour, dark)
      disc(pen, 5, dark, '#fff')
      break
    case KAMIKAZE:
      shape(pen, [-20, 0, 6, -9, 14, -13, 10, 0, 14, 13, 6, 9], colour, dark)
      glow(pen, 16 + Math.sin(seconds * 20) * 5, '#ff8a3d99')
      break
    case PATROL:
      shape(pen, [-22, -6, -8, -18, 16, -18, 22, 0, 16, 18, -8, 18, -22, 6, -12, 0], colour, dark)
      disc(pen, 8, dark, '#ff6b8a')
      break
    case CARRIER:
      shape(pen, [-20, 0, -10, -14, 18, -12, 12, 0, 18, 12, -10, 14], colour, dark)
      disc(pen, 8, '#fff6cf', dark)
      break
    default:
      shape(pen, [-17, 0, -4, -11, 14, -13, 9, 0, 14, 13, -4, 11], colour, dark)
      disc(pen, 4, '#fff2', dark)
  }
}

function disc(pen: Pen, radius: number, fill: string, line: string): void {
  pen.beginPath()
  pen.arc(0, 0, radius, 0, 7)
  pen.fillStyle = fill
  pen.fill()
  pen.strokeStyle = line
  pen.lineWidth = 2
  pen.stroke()
}

function drawRock(pen: Pen, isHit: boolean, seconds: number): void {
  pen.rotate(seconds * 0.7)
  const rock = pen.createRadialGradient(-8, -8, 2, 0, 0, 30)
  rock.addColorStop(0, isHit ? '#fff' : '#b3a294')
  rock.addColorStop(1, isHit ? '#ccc' : '#3a322e')
  shape(pen, [-26, -6, -14, -24, 8, -27, 26, -10, 22, 14, 4, 27, -18, 20], rock, '#0009')
  shape(pen, [-8, -6, 2, -10, 6, -2, -2, 4], '#0004')
}

/** The hull of each level's boss: light, middle, dark. */
const HULLS = [['#8f86c8', '#4b4384', '#1d1838'], ['#e09a6a', '#8a4430', '#331418'], ['#7fd8b0', '#2f7a68', '#0e2a30']]

function drawBoss(
  pen: Pen, isHit: boolean, phase: number, health: number, seconds: number, level: number,
): void {
  const heart = ['#58d0ff', '#ffb14d', '#ff3d6c'][Math.max(0, phase - 1)]!
  glow(pen, 150, `${heart}44`, 0.8 + 0.2 * Math.sin(seconds * 4))
  const hull = pen.createLinearGradient(0, -80, 0, 80)
  HULLS[(level - 1) % 3]!.forEach((colour, index) => hull.addColorStop(index / 2, colour))
  for (const side of [-1, 1]) {
    pen.save()
    pen.scale(1, side)
    pen.rotate(Math.sin(seconds * 1.5) * 0.05 * phase)
    shape(pen, [60, 10, 70, 60, 20, 92, -60, 84, -30, 62, -84, 50, -40, 34, -70, 14], hull, '#0009')
    shape(pen, [30, 40, 40, 64, 0, 72, -10, 52], '#0005')
    // Wings open with each phase, and show what is below.
    if (phase > 1) shape(pen, [-30, 62, -84, 50, -60, 68], heart)
    if (phase > 2) shape(pen, [20, 92, -60, 84, -20, 104], heart)
    for (let spike = 0; spike < level; spike++) {
      const [x, y] = [58 - spike * 21, 66 + spike * 13]
      shape(pen, [x, y, x + 8, y + 30, x - 16, y + 10], `${heart}aa`, '#0009')
    }
    pen.restore()
  }
  shape(pen, [70, 0, 50, -34, -20, -38, -62, -14, -74, 0, -62, 14, -20, 38, 50, 34], hull, '#fff3')
  if (isHit) glow(pen, 110, '#ffffff55')
  pen.save()
  pen.translate(-14, 0)
  glow(pen, 44 + 6 * Math.sin(seconds * 6), heart)
  disc(pen, 19, '#12081c', heart)
  for (let tooth = 0; tooth < 6; tooth++) {
    pen.rotate(Math.PI / 3 + seconds * 0.02 * phase)
    shape(pen, [20, -4, 30, 0, 20, 4], heart)
  }
  disc(pen, 8 + (1 - health) * 6, heart, '#fff')
  pen.restore()
}

export function drawShot(pen: Pen, kind: number, isMine: boolean, angle: number, seconds: number): void {
  pen.rotate(angle)
  pen.globalCompositeOperation = 'lighter'
  if (kind === BEAM) {
    glow(pen, 46, '#7df6ff88')
    pen.globalCompositeOperation = 'lighter'
    shape(pen, [-70, 0, -10, -9, 26, 0, -10, 9], '#7df6ff')
    shape(pen, [-40, 0, -6, -4, 18, 0, -6, 4], '#fff')
  } else if (isMine) {
    shape(pen, [-16, 0, 0, -3.4, 10, 0, 0, 3.4], '#5fd8ff')
    shape(pen, [-8, 0, 2, -1.6, 8, 0, 2, 1.6], '#fff')
  } else if (kind === ORB) {
    glow(pen, 18, '#c86bffcc')
    disc(pen, 5 + Math.sin(seconds * 12), '#fff', '#d58bff')
  } else if (kind === MISSILE) {
    glow(pen, 20, '#ff4d4dcc')
    shape(pen, [-12, 0, -4, -4, 10, 0, -4, 4], '#ffd0b0')
  } else {
    glow(pen, 16, '#ff9d3dcc')
    disc(pen, 4, '#fff', '#ffb45e')
  }
  pen.globalCompositeOperation = 'source-over'
}

export const POWER_LOOKS: readonly (readonly [letter: string, colour: string, name: string])[] = [
  ['S', '#6bff8f', 'Speed'], ['W', '#ff6b6b', 'Weapon up'], ['F', '#ff9a3c', 'Force'], ['B', '#5fb8ff', 'Shield'],
  ['1', '#ff8ae2', 'Extra life'], ['★', '#ffe45e', 'Invincible'],
]

export function drawPowerup(pen: Pen, kind: number, seconds: number, frame: Frame): void {
  const [letter, colour] = POWER_LOOKS[kind]!
  glow(pen, 34 + Math.sin(seconds * 5) * 4, `${colour}88`)
  pen.save()
  pen.rotate(seconds)
  shape(pen, [-14, -14, 14, -14, 14, 14, -14, 14], '#0a1028cc', colour)
  pen.restore()
  frame.level(pen)
  pen.fillStyle = colour
  pen.font = '700 17px system-ui'
  pen.textAlign = 'center'
  pen.textBaseline = 'middle'
  pen.fillText(letter, 0, 1)
}
