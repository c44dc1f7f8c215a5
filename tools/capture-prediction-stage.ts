/**
 * The outer page of the README's picture: it has the windows of both players in frames, presses their keys, and keeps
 * what both show, with a heading, as frames of one picture. `tools/capture-prediction.ts` opens it.
 */

import type { Shown } from './capture-prediction-page.ts'

const ROUND_TRIP_MS = 200
const PHASE_MS = 4_200
const FRAME_MS = 50
/** What the player of each window holds, in turns of TURN_MS. */
const TURN_MS = 700
const WALKS = [
  ['Right', 'Down', 'Left', 'Up', 'Right', 'Left'],
  ['Up', 'Left', 'Down', 'Right', 'Left', 'Right'],
] as const
/** The second player turns a little later: the keys of both are seen apart. */
const SECOND_LATER_MS = 150

const KEY_CAPS = [['Up', '↑', 1, 0], ['Left', '←', 0, 1], ['Down', '↓', 1, 1], ['Right', '→', 2, 1]] as const

interface Taken {
  readonly at: number
  readonly pixels: ImageData
}

/** What the tool calls. */
export interface Stage {
  isReady(): boolean
  /** Plays both phases. Returns the number of frames, and all times from a key to its effect. */
  record(): Promise<{ readonly count: number; readonly reactions: Shown['reactions'] }>
  /** A frame as PNG in base64, and how long it is shown. */
  frame(index: number): Promise<{ readonly png: string; readonly ms: number }>
}

const stage = new OffscreenCanvas(920, 372)
const pen = stage.getContext('2d', { willReadFrequently: true })!
const taken: Taken[] = []

const windows = (): Shown[] => [0, 1].map((at) => (frames[at] as unknown as { shown: Shown }).shown)

function text(words: string, x: number, y: number, font: string, colour: string, align: CanvasTextAlign): void {
  Object.assign(pen, { font: `${font} system-ui, sans-serif`, fillStyle: colour, textAlign: align })
  pen.fillText(words, x, y)
}

function box(x: number, y: number, width: number, height: number, radius: number, colour: string): void {
  pen.fillStyle = colour
  pen.beginPath()
  pen.roundRect(x, y, width, height, radius)
  pen.fill()
}

function paint(isPredicted: boolean): void {
  box(0, 0, stage.width, stage.height, 0, '#0f141d')
  text(`Round trip ${ROUND_TRIP_MS} ms`, 16, 33, '600 19px', '#e7ecf4', 'left')
  box(stage.width / 2 - 120, 10, 240, 34, 17, isPredicted ? '#14713a' : '#7c2730')
  text(`Prediction ${isPredicted ? 'on' : 'off'}`, stage.width / 2, 33, '600 18px', '#fff', 'center')
  windows().forEach((shown, at) => paintWindow(shown, at, isPredicted))
}

function paintWindow({ canvas, held, reactionMs }: Shown, at: number, isPredicted: boolean): void {
  const left = 12 + at * 452
  box(left, 54, 444, 306, 10, '#2a3142')
  text(at === 0 ? 'Ada' : 'Ben', left + 14, 77, '600 15px', '#e7ecf4', 'left')
  const ms = reactionMs === undefined ? '' : `key to screen: ${Math.round(reactionMs)} ms`
  text(ms, left + 430, 77, '15px', isPredicted ? '#5fd38d' : '#ff8b8b', 'right')
  box(left + 6, 90, 432, 264, 6, '#181d29')
  pen.drawImage(canvas, left + 6, 97, 432, 243)
  for (const [key, sign, column, row] of KEY_CAPS) {
    const [x, y] = [left + 14 + column * 28, 292 + row * 28]
    box(x, y, 25, 25, 5, held.has(key) ? '#f2b84b' : '#2f3850')
    text(sign, x + 12.5, y + 18, '15px', held.has(key) ? '#181d29' : '#9aa7bb', 'center')
  }
}

async function record(): ReturnType<Stage['record']> {
  const startedAt = performance.now()
  for (let next = startedAt; ; next += FRAME_MS) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())))
    const elapsed = performance.now() - startedAt
    if (elapsed > PHASE_MS * 2) break
    const isPredicted = elapsed > PHASE_MS
    windows().forEach((each, at) => {
      each.isPredicted = isPredicted
      const key = WALKS[at]?.[Math.floor(((elapsed % PHASE_MS) - at * SECOND_LATER_MS) / TURN_MS)]
      if (key === undefined || !each.held.has(key)) each.held.clear()
      if (key !== undefined) each.held.add(key)
    })
    await new Promise(requestAnimationFrame)
    paint(isPredicted)
    taken.push({ at: performance.now() - startedAt, pixels: pen.getImageData(0, 0, stage.width, stage.height) })
  }
  for (const { held } of windows()) held.clear()
  return { count: taken.length, reactions: windows().flatMap(({ reactions }) => reactions) }
}

async function frame(index: number): Promise<{ readonly png: string; readonly ms: number }> {
  const { at, pixels } = taken[index]!
  pen.putImageData(pixels, 0, 0)
  const bytes = new Uint8Array(await (await stage.convertToBlob({ type: 'image/png' })).arrayBuffer())
  const png = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return { png, ms: (taken[index + 1]?.at ?? at + FRAME_MS) - at }
}

const isReady = (): boolean => [0, 1].every((at) => 'shown' in (frames[at] ?? {}))
const ready: Stage = { isReady, record, frame }
Object.assign(window, { stage: ready })
