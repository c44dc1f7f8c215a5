/**
 * The interface of a lab: one idea, shown by a real match that runs entirely in the page.
 *
 * A lab opens a stage: one or more simulated matches (server, players, cables and network faults; see `simulate`),
 * screens that show each participant's view, and figures that are measured while it runs. The page drives a stage in
 * real time, a probe drives the same stage in simulated time; both use only this interface.
 */

import type { Weather } from 'tickwire/testing'
import type { Pen, Role } from './pen.ts'
import type { Scope } from './scope.ts'

/** A setting that a visitor may change: a number or a switch. */
export type Dial = NumberDial | SwitchDial

export interface NumberDial {
  readonly label: string
  readonly value: number
  readonly min: number
  readonly max: number
  readonly step: number
  readonly unit: string
}

export interface SwitchDial {
  readonly label: string
  readonly value: boolean
}

export type Dials = { readonly [name: string]: Dial }

/** The current values of the dials. */
export type Settings<D extends Dials = Dials> = { readonly [name in keyof D]: Wide<D[name]['value']> }

/** `true` is the initial value of a switch, and may be changed to false. */
type Wide<V> = V extends number ? number : boolean

/** A visitor's input; undefined while a bot plays. */
export interface Hands {
  readonly keys:
    { readonly left: boolean; readonly right: boolean; readonly up: boolean; readonly down: boolean } | undefined
}

/** One picture of the stage: the view of one participant. */
export interface Screen {
  readonly title: string
  readonly role: Role
  /** A short text below the picture. */
  readonly note?: string
  /** Draws on an area of 320 by 180. */
  draw(pen: Pen): void
}

/** A measurement. */
export interface Figure {
  readonly name: string
  readonly value: string
  readonly role?: Role
}

/** A claim of the lab, and whether it held so far; undefined before there is enough data. */
export interface Claim {
  readonly text: string
  readonly isHeld: boolean | undefined
}

/** A match that can be advanced in time: a `Simulation` of any game. */
export interface Running {
  run(ms: number): void
  weather(weather: Weather): void
}

export interface Stage {
  readonly sims: readonly Running[]
  readonly screens: readonly Screen[]
  /** The chart over time. */
  readonly scope?: Scope
  figures(): readonly Figure[]
  claim(): Claim
  /** The network conditions have changed: discards earlier measurements. */
  forget?(): void
}

export interface Lab {
  /** Its address, and the name of its file. */
  readonly name: string
  readonly title: string
  /** In one line. */
  readonly idea: string
  /** In a few sentences. */
  readonly words: string
  /** The page of the guide that explains more. */
  readonly guide: string
  /** What the arrow keys do, if anything. */
  readonly hint?: string
  readonly dials: Dials
  open(settings: Settings, hands: Hands): Stage
}

/** The initial values of the dials. */
export function settingsOf<D extends Dials>(dials: D): Settings<D> {
  // reason: fromEntries loses which name has which type; every value is that of the dial with its name.
  return Object.fromEntries(Object.entries(dials).map(([name, { value }]) => [name, value])) as Settings<D>
}

/** Declares a lab; the types of its settings are inferred from its dials. */
export function defineLab<const D extends Dials>(lab: Omit<Lab, 'dials' | 'open'> & {
  readonly dials: D
  open(settings: Settings<D>, hands: Hands): Stage
}): Lab {
  // reason: a lab is opened with settings of its own dials; the page and the probes make them with `settingsOf`.
  return lab as Lab
}

/** Advances a stage. Several matches advance together, a tick at a time, so that they can be compared. */
export function advance({ sims }: Stage, ms: number): void {
  for (let left = ms; left > 0; left -= TICK_MS) for (const sim of sims) sim.run(Math.min(left, TICK_MS))
}

const TICK_MS = 1000 / 60

/** No visitor input: bots play. */
export const NO_HANDS: Hands = { keys: undefined }
