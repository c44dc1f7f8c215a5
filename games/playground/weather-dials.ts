/**
 * The dials for network conditions, and their values for a cable. A change in a running match applies from the next
 * packet on.
 */

import type { Weather } from 'tickwire/testing'
import type { NumberDial, Settings } from './lab.ts'

const percent = (label: string, value: number, max: number): NumberDial => ({
  label,
  value,
  min: 0,
  max,
  step: 1,
  unit: '%',
})
const ms = (label: string, value: number, max: number): NumberDial => ({
  label,
  value,
  min: 0,
  max,
  step: 5,
  unit: 'ms',
})

export const latency = (value: number): NumberDial => ms('Latency, one way', value, 300)
export const jitter = (value: number): NumberDial => ms('Jitter', value, 100)
export const loss = (value: number): NumberDial => percent('Loss', value, 50)
export const duplication = (value: number): NumberDial => percent('Duplication', value, 50)
export const reordering = (value: number): NumberDial => percent('Reordering', value, 50)

/** The network conditions for settings, by the names of these dials in labs. */
export function weatherOf(settings: Settings): Weather {
  const number = (name: string): number => Number(settings[name] ?? 0)
  return {
    latencyMs: number('latency'), jitterMs: number('jitter'), loss: number('loss') / 100,
    duplication: number('duplication') / 100, reordering: number('reordering') / 100,
  }
}

/** Whether a dial is one of these. */
export function isWeather(name: string): boolean {
  return ['latency', 'jitter', 'loss', 'duplication', 'reordering'].includes(name)
}
