/**
 * The panels of the overlay: each draws one aspect of the network, with a pen, from a watcher.
 * `docs/guide/reading-the-overlay.md` explains how to read them.
 */

import { valueText, type Mistake } from '../core/game/mistake-text.ts'
import { FATE } from './packet-fates.ts'
import { INK, type Pen } from './pen.ts'
import type { Readings } from './readings.ts'
import type { Watcher } from './watcher.ts'

/** Packets shown in the lagometer. */
const PACKETS_SHOWN = 170
const MISTAKES_SHOWN = 4
const TRAFFIC_ROWS_SHOWN = 5
const FIELDS_SHOWN = 6
const GAP = 11

/** Height of all panels together. */
export const PANELS_HEIGHT = 668

/** Draws all panels, or only their graphs. Texts show the values of `read`, graphs the current ones. */
export function drawPanels(pen: Pen, watcher: Watcher, read: Readings, isGraphsOnly: boolean): void {
  pen.begin(PANELS_HEIGHT, isGraphsOnly)
  drawNumbers(pen, read)
  drawLagometer(pen, watcher, read)
  drawRoundTrip(pen, watcher, read)
  drawTicks(pen, watcher, read)
  drawInputs(pen, watcher, read)
  drawRollbacks(pen, read)
  drawBytes(pen, read)
}

function drawNumbers(
  pen: Pen,
  { rttMs, jitterMs, lossShare, traffic, clientTick, serverTick, clockOffsetMs, interpolationMs }: Readings,
): void {
  const [bytesIn, bytesOut] = [
    sum(traffic, ({ bytesInPerSecond }) => bytesInPerSecond),
    sum(traffic, ({ bytesOutPerSecond }) => bytesOutPerSecond),
  ]
  pen.tiles([
    {
      name: 'round trip',
      ...duration(rttMs),
      ink: rttMs < 80 ? INK.good : rttMs < 180 ? INK.fair : INK.bad,
      about: 'The time from this page to the server and back. Green is below 80 ms, red from 180 ms.',
    },
    {
      name: 'jitter',
      ...duration(jitterMs),
      ink: jitterMs < 10 ? INK.good : jitterMs < 30 ? INK.fair : INK.bad,
      about: 'How much the round trip varies from packet to packet. Green is below 10 ms, red from 30 ms.',
    },
    {
      name: 'lost',
      value: (lossShare * 100).toFixed(1),
      unit: '%',
      ink: lossShare < 0.01 ? INK.good : lossShare < 0.05 ? INK.fair : INK.bad,
      about: 'Packets of the server that did not arrive. Green is below 1 %, red from 5 %. Their rows are sent again.',
    },
    {
      name: 'in',
      value: (bytesIn / 1000).toFixed(1),
      unit: 'kB/s',
      ink: INK.blue,
      about: 'What this page receives, in kilobytes a second.',
    },
    {
      name: 'out',
      value: (bytesOut / 1000).toFixed(1),
      unit: 'kB/s',
      ink: INK.violet,
      about: 'What this page sends, in kilobytes a second.',
    },
  ])
  const ahead = clientTick - serverTick
  if (clientTick === 0) pen.line(`server tick ${serverTick}, we look on`, '')
  else
    pen.line(
      `server tick ${serverTick}, we play ${Math.floor(clientTick)}`,
      `${ahead < 0 ? '' : '+'}${ahead.toFixed(1)}`,
    )
  pen.explain('The newest tick of the server, the tick that this page plays, and how many ticks the page is ahead.')
  pen.line(`clock offset ${signed(clockOffsetMs)} ms`, `others ${interpolationMs.toFixed(0)} ms behind`)
  pen.skip(GAP)
  pen.explain('The difference between the two clocks, and how late other players are drawn, to be drawn smoothly.')
}

function drawLagometer(
  pen: Pen,
  { meter: { fates }, guesses }: Watcher,
  { received, late, lost, extrapolatedDraws }: Readings,
): void {
  pen.heading('Lagometer', `${received} received  ${late} late  ${lost} lost`)
  pen.explain('Packets of the server since the overlay was opened.')
  const { capacity, length } = guesses
  pen.columns(10, capacity, () => 1, (at) => {
    const index = at - (capacity - length)
    return index < 0 ? '' : guesses.at(index) === 1 ? INK.violet : 'rgba(98,180,255,0.35)'
  })
  pen.explain('A column for each draw. Violet: no update came in time, so that others were extrapolated.')
  pen.skip(2)
  const first = fates.newest - PACKETS_SHOWN + 1
  pen.columns(
    40,
    PACKETS_SHOWN,
    (at) => (fates.fateOf(first + at) === FATE.lost ? 1 : 0.15 + fates.sizeOf(first + at) / 600),
    (at) => {
      const fate = fates.fateOf(first + at)
      return fate === FATE.received ? INK.good : fate === FATE.late ? INK.fair : fate === FATE.lost ? INK.bad : ''
    },
  )
  pen.legend([
    ['received', INK.good],
    ['late', INK.fair],
    ['lost', INK.bad],
    [`draws extrapolated: ${extrapolatedDraws}`, INK.violet],
  ])
  pen.skip(GAP)
  pen.explain('A column for each packet, as tall as it is large. Yellow came after a later packet, red not at all.')
}

function drawRoundTrip(pen: Pen, { rtts }: Watcher, { rttMs, jitterMs }: Readings): void {
  const max = Math.max(40, rtts.max * 1.15)
  pen.heading('Round trip', `${rttMs.toFixed(1)} ± ${jitterMs.toFixed(1)} ms, scale ${max.toFixed(0)}`)
  pen.curve(36, rtts, 0, max, INK.blue, [rttMs])
  pen.skip(GAP)
  pen.explain('The round trip over the last seconds. A slow rise and a sudden fall: a buffer on the path is full.')
}

function drawTicks(pen: Pen, { tickTimes }: Watcher, { tickMs, tickMsMax, tickBudgetMs }: Readings): void {
  pen.heading('Tick time', `${tickMs.toFixed(2)} ms, most ${tickMsMax.toFixed(1)} of ${tickBudgetMs.toFixed(1)}`)
  const { capacity, length } = tickTimes
  pen.columns(26, capacity, (at) => (tickTimes.at(at - capacity + length) / tickBudgetMs), (at) => {
    const index = at - (capacity - length)
    if (index < 0) return ''
    const share = tickTimes.at(index) / tickBudgetMs
    return share < 0.5 ? INK.good : share < 1 ? INK.fair : INK.bad
  })
  pen.skip(GAP)
  pen.explain('What a tick takes on this machine. Yellow is above half of what it may take; red makes inputs late.')
}

function drawInputs(pen: Pen, { margins }: Watcher, { marginTicks, leadMs, lateInputs }: Readings): void {
  const isEarly = marginTicks >= 0
  pen.heading(
    'Inputs',
    `${Math.abs(marginTicks).toFixed(1)} ticks ${isEarly ? 'early' : 'LATE'}`
      + `, lead ${leadMs.toFixed(0)} ms, ${lateInputs} late`,
    isEarly ? INK.dim : INK.bad,
  )
  pen.curve(36, margins, -2, 5, isEarly ? INK.good : INK.bad, [0])
  pen.skip(GAP)
  pen.explain('How early inputs arrive at the server, in ticks. Below the line they are late, and the lead grows.')
}

function drawRollbacks(pen: Pen, { rollbacks, resteppedTicks, mistakes }: Readings): void {
  pen.heading('Rollbacks', `${rollbacks}, ${resteppedTicks} ticks stepped again`, rollbacks > 0 ? INK.fair : INK.dim)
  for (let back = 1; back <= MISTAKES_SHOWN; back++) {
    const mistake = mistakes.at(-back)
    if (mistake === undefined) pen.line(back === 1 ? noMistakeText(rollbacks) : '', '')
    else
      pen.line(
        mistakeText(mistake),
        Number.isNaN(mistake.distance) ? '' : `Δ ${valueText(mistake.distance)}`,
        back === 1 ? INK.fair : INK.dim,
      )
  }
  pen.skip(GAP)
  pen.explain('The last mispredictions: tick, first field that differed, predicted and true value, and their distance.')
}

/** The line where there is no misprediction. The overlay records them only while it is open. */
export function noMistakeText(rollbacks: number): string {
  return rollbacks === 0 ? 'every prediction was right so far' : 'no misprediction since the overlay was opened'
}

/** One misprediction as a line of text. */
export function mistakeText({ tick, entity, id, field, predicted, received }: Mistake): string {
  if (field === '') return `${tick} ${entity} ${id >>> 16}: not predicted`
  return `${tick} ${field}: ${valueText(predicted)} → ${valueText(received)}`
}

function drawBytes(pen: Pen, { traffic, entities, fields, entryBits }: Readings): void {
  pen.heading('Bytes a second', 'in        out')
  const most = Math.max(
    1,
    ...traffic.map(({ bytesInPerSecond, bytesOutPerSecond }) => bytesInPerSecond + bytesOutPerSecond),
  )
  for (let at = 0; at < TRAFFIC_ROWS_SHOWN; at++) {
    const each = traffic[at]
    if (each === undefined) pen.line('', '')
    else
      pen.bar(
        each.name,
        `${amount(each.bytesInPerSecond)} ${amount(each.bytesOutPerSecond)}`,
        (each.bytesInPerSecond + each.bytesOutPerSecond) / most,
        INK.blue,
      )
  }
  pen.skip(4)
  pen.explain('Bytes by kind of data. "packets" is headers, acknowledgements and authentication tags.')
  pen.heading('Snapshots by entity and field', `${(entryBits / 8000).toFixed(1)} kB so far`)
  const [largest] = entities
  const total = Math.max(
    1,
    sum(entities, ({ bits }) => bits),
  )
  pen.bar(
    largest === undefined || largest.bits === 0 ? '' : `${largest.name}, ${largest.entries} entries`,
    largest === undefined ? '' : percent(largest.bits / total),
    largest === undefined ? 0 : largest.bits / total,
    INK.violet,
  )
  const second = entities[1]
  if (second === undefined || second.bits === 0) pen.line('', '')
  else {
    const share = second.bits / total
    pen.bar(`${second.name}, ${second.entries} entries`, percent(share), share, INK.violet)
  }
  pen.explain('What snapshots spend on each entity. An entry is one object in one snapshot.')
  for (let at = 0; at < FIELDS_SHOWN; at++) {
    const field = fields[at]
    if (field === undefined) pen.line('', '')
    else
      pen.bar(
        field.path.includes('.') ? field.path : `${field.path}: which, and which fields`,
        percent(field.share),
        field.share,
        INK.good,
      )
  }
  pen.explain('The fields that cost most. To send less, begin with the longest bar.')
}

function sum<T>(all: readonly T[], of: (each: T) => number): number {
  return all.reduce((total, each) => total + of(each), 0)
}

/** Short enough to fit beside four others. */
function duration(ms: number): { value: string; unit: string } {
  return ms < 1000 ? { value: ms.toFixed(ms < 100 ? 1 : 0), unit: 'ms' } : { value: (ms / 1000).toFixed(1), unit: 's' }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}

function amount(bytes: number): string {
  return bytes.toFixed(0).padStart(7)
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`
}
