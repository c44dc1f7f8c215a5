/** The texts of a match: cards, the boss, the level, the score table. Drawn on the window (`frame.ts`). */

import type { Frame } from './frame.ts'

type Pen = CanvasRenderingContext2D

/** The content of a card. */
export interface Card {
  readonly peer: number
  readonly name: string
  readonly hue: number
  readonly health: number
  readonly shield: number
  readonly lives: number
  readonly level: number
  readonly score: number
}

const CARD = 42
const FONT = 'system-ui'
export const BANNER_SECONDS = 3

export const colourOf = (hue: number): string => `hsl(${hue * 1.4} 85% 68%)`

/** A card for each player: in a row below, or in the left part of the strip of an upright window. */
export function drawCards(pen: Pen, frame: Frame, cards: readonly Card[], me: number): void {
  const { isUpright, width, height, stripTop } = frame
  cards.forEach((card, index) => {
    if (isUpright) {
      const wide = (width * 0.62 - 24) / 2
      const gap = 8
      const tall = Math.min(58, (height - stripTop - 3 * gap) / 2)
      drawCard(pen, card, 10 + (index % 2) * (wide + gap), stripTop + gap + Math.floor(index / 2) * (tall + gap), wide,
        tall, card.peer === me)
      return
    }
    const row = Math.min(width - 20, 1000)
    const wide = (row - 3 * 10) / 4
    drawCard(pen, card, (width - row) / 2 + index * (wide + 10), height - CARD - 8, wide, CARD, card.peer === me)
  })
}

function drawCard(
  pen: Pen, card: Card, x: number, y: number, width: number, height: number, isMine: boolean,
): void {
  const { name, hue, health, shield, lives, level, score } = card
  const colour = colourOf(hue)
  pen.fillStyle = isMine ? 'rgb(18 26 60 / 88%)' : 'rgb(8 10 26 / 76%)'
  pen.beginPath()
  pen.roundRect(x, y, width, height, 6)
  pen.fill()
  if (isMine) {
    pen.strokeStyle = colour
    pen.lineWidth = 1.5
    pen.stroke()
  }
  const middle = y + height * 0.34
  pen.textBaseline = 'middle'
  pen.font = `700 14px ${FONT}`
  pen.fillStyle = colour
  pen.textAlign = 'left'
  pen.fillText(name, x + 10, middle, width * 0.55)
  pen.fillStyle = '#fff'
  pen.textAlign = 'right'
  pen.fillText(score.toLocaleString('en'), x + width - 10, middle, width * 0.4)
  pen.font = `600 12px ${FONT}`
  pen.fillStyle = '#cfd9ff'
  const low = y + height * 0.74
  pen.fillText(`${'♥'.repeat(Math.min(5, lives))} ${'▮'.repeat(level)}`, x + width - 10, low, width * 0.44)
  const bar = width * 0.4
  pen.fillStyle = '#ffffff1c'
  pen.fillRect(x + 10, low - 3, bar, 6)
  pen.fillStyle = health > 35 ? '#66e06f' : '#ff5d6c'
  pen.fillRect(x + 10, low - 3, (bar * Math.min(100, health)) / 100, 6)
  pen.fillStyle = '#38d0ff'
  pen.fillRect(x + 10, low + 4, (bar * Math.min(100, shield)) / 100, 2)
}

export function drawBossBar(pen: Pen, { width: full }: Frame, part: number, phase: number): void {
  const width = Math.min(440, full - 180)
  const [x, y] = [(full - width) / 2, 16]
  pen.fillStyle = 'rgb(8 10 26 / 80%)'
  pen.beginPath()
  pen.roundRect(x - 8, y - 8, width + 16, 40, 6)
  pen.fill()
  pen.fillStyle = '#ffffff16'
  pen.fillRect(x, y, width, 9)
  const bar = pen.createLinearGradient(x, 0, x + width, 0)
  bar.addColorStop(0, '#ff3d6c')
  bar.addColorStop(0.5, '#ffb14d')
  bar.addColorStop(1, '#58d0ff')
  pen.fillStyle = bar
  pen.fillRect(x, y, width * part, 9)
  pen.fillStyle = '#080a1a'
  for (const third of [1 / 3, 2 / 3]) pen.fillRect(x + width * third, y, 2, 9)
  pen.font = `700 12px ${FONT}`
  pen.textAlign = 'center'
  pen.textBaseline = 'middle'
  pen.fillStyle = '#fff'
  pen.fillText(`BOSS · PHASE ${phase} OF 3`, full / 2, y + 20)
}

export function drawBanner(pen: Pen, { width, height }: Frame, title: string, text: string, since: number): void {
  pen.globalAlpha = Math.max(0, Math.min(1, since * 3, (BANNER_SECONDS - since) * 2))
  pen.textAlign = 'center'
  pen.textBaseline = 'middle'
  const [x, y] = [width / 2, height * 0.42]
  const line = pen.createLinearGradient(x - 260, 0, x + 260, 0)
  for (const [at, colour] of [[0, 'transparent'], [0.5, '#7df6ff'], [1, 'transparent']] as const)
    line.addColorStop(at, colour)
  pen.fillStyle = 'rgb(4 6 18 / 55%)'
  pen.fillRect(0, y - 62, width, 112)
  pen.fillStyle = line
  pen.fillRect(x - 260, y - 62, 520, 1.5)
  pen.fillRect(x - 260, y + 49, 520, 1.5)
  pen.fillStyle = '#7df6ff'
  pen.font = `700 18px ${FONT}`
  pen.fillText(title.toUpperCase(), x, y - 34)
  pen.fillStyle = '#fff'
  pen.font = `800 46px ${FONT}`
  pen.fillText(text, x, y + 10, width - 40)
  pen.globalAlpha = 1
}

/** The score table between levels and at the end. `seconds` until the game goes on. */
export function drawTable(
  pen: Pen, { width, height }: Frame, cards: readonly Card[], title: string, text: string, me: number, seconds: number,
): void {
  pen.fillStyle = 'rgb(4 6 18 / 66%)'
  pen.fillRect(0, 0, width, height)
  const [wide, tall] = [Math.min(500, width - 30), 170 + cards.length * 46]
  const [left, top] = [(width - wide) / 2, Math.max(10, (height - tall) / 2 - 30)]
  pen.fillStyle = 'rgb(10 14 36 / 88%)'
  pen.strokeStyle = 'rgb(120 170 255 / 35%)'
  pen.lineWidth = 1
  pen.beginPath()
  pen.roundRect(left, top, wide, tall, 14)
  pen.fill()
  pen.stroke()
  pen.textAlign = 'center'
  pen.textBaseline = 'middle'
  const glow = pen.createLinearGradient(left, 0, left + wide, 0)
  for (const [at, colour] of [[0.1, '#6ff2ff'], [0.5, '#8f9bff'], [0.9, '#ff6fd8']] as const)
    glow.addColorStop(at, colour)
  pen.fillStyle = glow
  pen.font = `800 42px ${FONT}`
  pen.fillText(title.toUpperCase(), width / 2, top + 50, wide - 40)
  pen.font = `16px ${FONT}`
  pen.fillStyle = '#a9b8e6'
  pen.fillText(text, width / 2, top + 90, wide - 40)
  cards.forEach(({ name, score, hue, peer }, index) => {
    const y = top + 138 + index * 46
    pen.fillStyle = peer === me ? 'rgb(255 255 255 / 10%)' : 'rgb(255 255 255 / 4%)'
    pen.beginPath()
    pen.roundRect(left + 20, y - 19, wide - 40, 38, 6)
    pen.fill()
    pen.fillStyle = colourOf(hue)
    pen.fillRect(left + 20, y - 13, 3, 26)
    pen.font = `700 20px ${FONT}`
    pen.textAlign = 'left'
    pen.fillText(`${index + 1}   ${name}`, left + 36, y, wide * 0.55)
    pen.textAlign = 'right'
    pen.fillStyle = '#fff'
    pen.fillText(score.toLocaleString('en'), left + wide - 36, y)
  })
  pen.textAlign = 'center'
  pen.font = `600 13px ${FONT}`
  pen.fillStyle = '#8fa0d8'
  pen.fillText(`goes on in ${Math.max(1, Math.ceil(seconds))}`, width / 2, top + tall - 20)
}
