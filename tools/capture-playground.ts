/**
 * Draws the pictures of the labs for the guides: plays each lab without a page, and saves its screens and its chart.
 *
 *   node --conditions=tickwire-source --import tsx tools/capture-playground.ts
 *
 * Run it after a visible change: of a lab, or of the timing of the engine. The same lab gives the same picture, to the
 * last bit.
 */

import { writeFileSync } from 'node:fs'
import { advance, NO_HANDS, settingsOf, type Lab, type Settings } from '../games/playground/lab.ts'
import { LABS } from '../games/playground/labs.ts'
import { SvgPen, svgPicture } from '../games/playground/svg-pen.ts'

/** The time of each picture, in seconds, and changed settings. */
const SHOTS: readonly (readonly [lab: string, file: string, seconds: number, turned?: Settings])[] = [
  ['feel-the-lag', 'lab-lag', 5.6],
  ['predict-and-reconcile', 'lab-predict', 5.4],
  ['interpolation', 'lab-interpolation', 6.2],
  ['lag-compensation', 'lab-shooting', 8.2],
  ['interest', 'lab-interest', 3],
  ['authority', 'lab-authority', 7.6],
  ['authority', 'lab-authority-server', 7.6, { shared: false }],
  ['weather', 'lab-weather', 6],
  ['packet', 'lab-packet', 4.1],
]
const [SCREEN_WIDTH, SCREEN_HEIGHT] = [320, 180]
const CHART_HEIGHT = 150
const [GAP, CAPTION, EDGE] = [16, 28, 16]

for (const [name, file, seconds, turned = {}] of SHOTS) {
  const lab = LABS.find((one) => one.name === name)
  if (lab === undefined) throw new Error(`there is no lab ${name}`)
  const picture = drawLab(lab, seconds, turned)
  writeFileSync(new URL(`../docs/pictures/${file}.svg`, import.meta.url), picture)
  console.log(`${file}.svg, ${(picture.length / 1024).toFixed(0)} KiB`)
}

function drawLab(lab: Lab, seconds: number, turned: Settings): string {
  const stage = lab.open({ ...settingsOf(lab.dials), ...turned }, NO_HANDS)
  advance(stage, seconds * 1000)
  const { screens, scope } = stage
  const width = EDGE * 2 + screens.length * (SCREEN_WIDTH + GAP) - GAP
  let marks = ''
  const place = (x: number, y: number, title: string, role: string, pen: SvgPen, at: number): void => {
    marks += `<text x="${x}" y="${y + 16}" class="title fill ${role}">${title}</text>`
    marks += `<svg x="${x}" y="${y + CAPTION}" width="${pen.width}" height="${pen.height}">`
    marks += `<rect width="${pen.width}" height="${pen.height}" rx="${at}" class="field"/>${pen.marks}</svg>`
  }
  screens.forEach((screen, index) => {
    const pen = new SvgPen(SCREEN_WIDTH, SCREEN_HEIGHT)
    screen.draw(pen)
    place(EDGE + index * (SCREEN_WIDTH + GAP), EDGE, screen.title, screen.role, pen, 6)
  })
  let height = EDGE + CAPTION + SCREEN_HEIGHT + EDGE
  if (scope !== undefined) {
    const pen = new SvgPen(width - EDGE * 2, CHART_HEIGHT)
    scope.draw(pen)
    place(EDGE, height, scope.title, 'ink', pen, 6)
    height += CAPTION + CHART_HEIGHT + EDGE
  }
  return svgPicture(
    width,
    height,
    lab.title,
    `<rect width="${width}" height="${height}" class="page" rx="10"/>${marks}`,
  )
}
