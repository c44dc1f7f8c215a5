/**
 * One lab on one page: its text, its screens, its measurements, its dials, and its source file.
 */

import { advance, settingsOf, type Claim, type Figure, type Lab, type Screen } from '../lab.ts'
import { isWeather, weatherOf } from '../weather-dials.ts'
import { CanvasPen } from './canvas-pen.ts'
import { dialsForm } from './dials-form.ts'
import { element } from './element.ts'
import { HeldKeys } from './held-keys.ts'
import { navigation } from './navigation.ts'
import { sourceView } from './source-view.ts'
import { TimeBar } from './time-bar.ts'

/** A longer gap is not caught up with: the page was in the background. */
const ELAPSED_MS_MAX = 100
const FIGURES_MS = 200
const SCREEN = [320, 180] as const

/** Fills the page. The returned function ends it. */
export function showLab(body: HTMLElement, lab: Lab): () => void {
  const hands = new HeldKeys()
  const time = new TimeBar()
  let stage = lab.open(settingsOf(lab.dials), hands)
  const screens = stage.screens.map((screen) => new Picture(screen, SCREEN))
  const chart = stage.scope === undefined ? undefined : new Picture({ title: stage.scope.title, role: 'ink' })
  const figures = element('dl', { class: 'figures' })
  const claim = element('p', { class: 'claim', 'aria-live': 'off' })
  // Network conditions change in the running match; every other dial starts a new match.
  const form = dialsForm(lab.dials, (name, settings) => {
    if (!isWeather(name)) return
    for (const sim of stage.sims) sim.weather(weatherOf(settings))
    stage.forget?.()
  }, (name, settings) => {
    if (!isWeather(name)) stage = lab.open(settings, hands)
  })
  for (const { canvas } of screens) hands.steerOn(canvas)
  body.replaceChildren(
    navigation(lab),
    element('main', { class: 'lab' },
      element('article', {},
        element('h1', {}, lab.title),
        element('p', { class: 'words' }, lab.words.replace(/\s+/g, ' '), ' ', guideLink(lab)),
        element('div', { class: 'shown' },
          element('section', { class: 'screens', 'aria-label': 'Screens' }, ...screens.map(({ root }) => root)),
          ...(chart === undefined ? [] : [chart.root])),
        element('div', { class: 'beside' },
          element('div', { class: 'said' }, claim, figures),
          element('div', { class: 'bar' }, time.root, ...hintOf(lab)),
          form)),
      sourceView(lab.name),
    ),
  )

  const daylight = matchMedia('(prefers-color-scheme: dark)')
  const recolor = (): void => { for (const picture of [...screens, chart]) picture?.pen.readColors() }
  daylight.addEventListener('change', recolor)
  let [before, shownAt, frame] = [performance.now(), -Infinity, 0]
  const repaint = (now: number): void => {
    frame = requestAnimationFrame(repaint)
    const ms = time.pass(Math.min(Math.max(now - before, 0), ELAPSED_MS_MAX))
    before = now
    advance(stage, ms)
    screens.forEach((picture, index) => picture.show((pen) => stage.screens[index]?.draw(pen)))
    chart?.show((pen) => stage.scope?.draw(pen))
    if (now - shownAt < FIGURES_MS) return
    shownAt = now
    showFigures(figures, stage.figures())
    showClaim(claim, stage.claim())
  }
  frame = requestAnimationFrame(repaint)
  return () => {
    cancelAnimationFrame(frame)
    daylight.removeEventListener('change', recolor)
    hands.close()
  }
}

/** A canvas with its title. */
class Picture {
  readonly root: HTMLElement
  readonly canvas: HTMLCanvasElement
  readonly pen: CanvasPen

  constructor({ title, role, note = '' }: Omit<Screen, 'draw'>, size?: readonly [width: number, height: number]) {
    this.canvas = element('canvas', { role: 'img', 'aria-label': `${title}. ${note}` })
    this.root = element(
      'figure',
      { class: `picture role-${role}` },
      element('figcaption', {}, element('strong', {}, title), element('span', {}, note)),
      this.canvas,
    )
    this.pen = new CanvasPen(this.canvas, size)
  }

  show(draw: (pen: CanvasPen) => void): void {
    this.pen.clear()
    draw(this.pen)
  }
}

function hintOf({ hint }: Lab): HTMLElement[] {
  return hint === undefined ? [] : [element('p', { class: 'hint' }, hint, touchHint())]
}

/** On a device without keys, touch on the screens steers. */
function touchHint(): string {
  return matchMedia('(pointer: coarse)').matches ? ' (or hold a finger on a screen)' : ''
}

function guideLink({ guide }: Lab): HTMLElement {
  const link = element('a', { href: `guide/${guide}`, target: '_blank' }, `docs/guide/${guide}`)
  return element('span', { class: 'guide' }, 'More: ', link)
}

function showFigures(list: HTMLElement, figures: readonly Figure[]): void {
  list.replaceChildren(...figures.map(({ name, value, role = 'ink' }) =>
    element('div', { class: `role-${role}` }, element('dt', {}, name), element('dd', {}, value))))
}

function showClaim(shown: HTMLElement, { text, isHeld }: Claim): void {
  const verdict = isHeld === undefined ? 'measuring' : isHeld ? 'holds' : 'does not hold'
  shown.dataset['held'] = `${isHeld ?? 'unknown'}`
  shown.replaceChildren(element('strong', {}, verdict), element('span', {}, text))
}
