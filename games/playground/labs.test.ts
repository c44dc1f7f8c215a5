/** The probes: every lab, played without a page, must show in numbers what it claims in words. */

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { advance, NO_HANDS, settingsOf, type Lab, type Settings, type Stage } from './lab.ts'
import { LABS } from './labs.ts'
import { authority } from './labs/authority.ts'
import { feelTheLag } from './labs/feel-the-lag.ts'
import { interest } from './labs/interest.ts'
import { interpolation } from './labs/interpolation.ts'
import { lagCompensation } from './labs/lag-compensation.ts'
import { packet } from './labs/packet.ts'
import { predictAndReconcile } from './labs/predict-and-reconcile.ts'
import { weather } from './labs/weather.ts'
import type { Pen } from './pen.ts'

// Whole matches are played here, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const ROOT = new URL('../../', import.meta.url)

/** Opens a lab with some dials changed, and lets `seconds` pass. */
function play(lab: Lab, seconds: number, turned: Settings = {}): Stage {
  const stage = lab.open({ ...settingsOf(lab.dials), ...turned }, NO_HANDS)
  advance(stage, seconds * 1000)
  return stage
}

/** The number that a figure of a stage begins with. */
function figure(stage: Stage, name: string): number {
  return Number.parseFloat(stage.figures().find((shown) => shown.name === name)?.value ?? '')
}

test('[PLAY1] feel the lag: without prediction a key shows a round trip later, and later than on the server', () => {
  for (const latency of [30, 200]) {
    const stage = play(feelTheLag, 5, { latency })
    expect(stage.claim().isHeld).toBe(true)
    expect(figure(stage, 'Key to your screen')).toBeGreaterThanOrEqual(2 * latency)
    expect(figure(stage, 'Key to your screen')).toBeLessThan(2 * latency + 120)
    expect(figure(stage, 'Key to server')).toBeLessThan(figure(stage, 'Key to your screen'))
  }
})

test('[PLAY2] predict: a key shows in the next draw at any latency; each gust is corrected once, and smoothly', () => {
  for (const latency of [0, 200]) {
    const stage = play(predictAndReconcile, 10.5, { latency })
    expect(stage.claim().isHeld).toBe(true)
    expect(figure(stage, 'Key to your screen')).toBeLessThanOrEqual(17)
    expect(figure(stage, 'Without prediction')).toBeGreaterThanOrEqual(2 * latency)
    expect(figure(stage, 'Unforeseen gusts')).toBeGreaterThanOrEqual(4)
    expect(Math.abs(figure(stage, 'Corrections') - figure(stage, 'Unforeseen gusts'))).toBeLessThanOrEqual(1)
    expect(figure(stage, 'Largest jump in one draw')).toBeLessThan(5)
  }
  expect(figure(play(predictAndReconcile, 4, { smoothing: false }), 'Largest jump in one draw')).toBe(60)
})

test('[PLAY3] interpolated, a runner moves in every draw on its path; extrapolated, it leaves the path', () => {
  const stage = play(interpolation, 12, { loss: 0, jitter: 0 })
  expect(stage.claim().isHeld).toBe(true)
  expect(figure(stage, 'As received: stands still in')).toBeGreaterThan(75)
  expect(figure(stage, 'Interpolated: stands still in')).toBeLessThanOrEqual(1)
  expect(figure(stage, 'Interpolated: off the path by')).toBeLessThan(5)
  expect(figure(stage, 'Extrapolated: off the path by')).toBeGreaterThan(8)
  expect(play(interpolation, 12).claim().isHeld).toBe(true)
})

test('[PLAY4] lag compensation: 64 of 64 shots hit; on a server that does not rewind, most miss', () => {
  const stage = play(lagCompensation, 33)
  expect(stage.claim().isHeld).toBe(true)
  const [back, now] = stage.figures().map(({ value }) => value.split(' of ').map(Number))
  expect(back?.[1]).toBeGreaterThanOrEqual(64)
  expect(back?.[0]).toBe(back?.[1])
  expect(now?.[0]).toBeLessThan((now?.[1] ?? 0) / 8)
})

test('[PLAY5] interest: objects in sight cost less than half, and are more exact if not everything fits', () => {
  const wide = play(interest, 3.5, { line: 60 })
  expect(wide.claim().isHeld).toBe(true)
  expect(figure(wide, 'Sent per second, with interest')).toBeLessThan(figure(wide, 'Sent per second, without') / 2)
  expect(figure(wide, 'Sheep you know of')).toBeLessThan(150)
  const narrow = play(interest, 3.5)
  expect(narrow.claim().isHeld).toBe(true)
  expect(figure(narrow, 'Error of near sheep, with interest')).toBeLessThan(
    figure(narrow, 'Error of near sheep, without') * 0.8,
  )
})

test('[PLAY6] authority: a shared ball stays in the hands, a server ball trails; all agree on the holder', () => {
  const stage = play(authority, 13)
  expect(stage.claim().isHeld).toBe(true)
  expect(figure(stage, 'Passes')).toBeGreaterThanOrEqual(3)
  expect(figure(stage, "Behind its holder's hands")).toBeLessThan(1)
  expect(
    new Set(
      stage
        .figures()
        .filter(({ name }) => name.startsWith('Held by'))
        .map(({ value }) => value),
    ).size,
  ).toBe(1)
  const far = play(authority, 13, { shared: false })
  expect(far.claim().isHeld).toBe(true)
  expect(figure(far, "Behind its holder's hands")).toBeGreaterThan(10)
})

test('[PLAY7] weather: reliable messages arrive once and in order, however bad it is; unreliable ones get lost', () => {
  const stage = play(weather, 20, { loss: 40, jitter: 100, duplication: 50, reordering: 50 })
  expect(stage.claim().isHeld).toBe(true)
  expect(figure(stage, 'Postcards that arrived')).toBeLessThan(90)
  const written = Number(stage.figures().at(-1)?.value.split(' of ')[1])
  for (const sim of stage.sims) sim.weather({})
  advance(stage, 2000)
  expect(stage.claim().isHeld).toBe(true)
  expect(figure(stage, 'Letters that arrived')).toBeGreaterThan(written)
})

test('[PLAY8] packet: every bit has a name; more walkers make only the snapshot larger; at rest it is empty', () => {
  const [few, many, still] = [play(packet, 5), play(packet, 5, { walkers: 60 }), play(packet, 5, { walking: false })]
  for (const stage of [few, many, still]) expect(stage.claim().isHeld).toBe(true)
  expect(figure(many, 'of it: snapshot')).toBeGreaterThan(2 * figure(few, 'of it: snapshot'))
  for (const part of ['of it: acks', 'of it: seal']) expect(figure(many, part)).toBe(figure(few, part))
  expect(figure(still, 'of it: snapshot')).toBe(0)
})

test.each(LABS)('[PLAY17] $name: a visitor that does what the hint says does not make the claim false', (lab) => {
  const keys = { left: false, right: false, up: false, down: false }
  const stage = lab.open(settingsOf(lab.dials), { keys })
  // Every key for a while, and pauses.
  for (const name of ['right', 'down', 'left', 'up', 'down', 'right'] as const) {
    for (const isHeld of [true, false]) {
      keys[name] = isHeld
      advance(stage, isHeld ? 1200 : 700)
      expect(stage.claim().isHeld, `${name} ${isHeld}`).not.toBe(false)
    }
  }
})

test('[PLAY16] every chart names the units of both axes: seconds below, and the unit of its values at the left', () => {
  const charts = LABS.flatMap((lab) => play(lab, 4).scope ?? [])
  expect(charts.length).toBeGreaterThanOrEqual(3)
  for (const chart of charts) {
    const texts: { words: string; x: number; y: number }[] = []
    const [width, height] = [520, 160]
    const pen: Pen = {
      width, height, square() {}, dot() {}, path() {},
      text(words, x, y) { texts.push({ words, x, y }) },
    }
    chart.draw(pen)
    const below = texts.filter(({ y }) => y === Math.max(...texts.map((text) => text.y)))
    const left = texts.filter(({ x }) => x === Math.min(...texts.map((text) => text.x)))
    expect(below.length, chart.title).toBeGreaterThan(3)
    for (const { words } of below) expect(words, chart.title).toMatch(/^\d+\.\d s$/)
    expect(left.length, chart.title).toBe(3)
    for (const { words } of left) expect(words, chart.title).toMatch(/^-?\d+(\.\d+)? px$/)
  }
})

test('[PLAY9] every lab is one file of at most 160 lines, named as its address, and in the list', () => {
  const files = readdirSync(new URL('labs/', import.meta.url)).sort()
  expect(files).toEqual(LABS.map(({ name }) => `${name}.ts`).sort())
  for (const file of files)
    expect(readFileSync(new URL(`labs/${file}`, import.meta.url), 'utf8').split('\n').length).toBeLessThanOrEqual(160)
})

test('[PLAY14] the guide shows what labs drew, in small files', () => {
  const pictures = readdirSync(new URL('docs/pictures/', ROOT)).filter((name) => name.startsWith('lab-'))
  const guide = readdirSync(new URL('docs/guide/', ROOT)).filter((name) => name.endsWith('.md'))
    .map((name) => readFileSync(new URL(`docs/guide/${name}`, ROOT), 'utf8')).join('\n')
  for (const name of pictures) {
    expect(guide).toContain(`(../pictures/${name})`)
    expect(readFileSync(new URL(`docs/pictures/${name}`, ROOT)).length).toBeLessThan(100_000)
  }
  for (const { name } of LABS) expect(guide).toContain(`games/playground/labs/${name}.ts`)
})
