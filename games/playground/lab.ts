/**
 * What a lab is: one idea, shown by a real match that runs wholly in the page.
 *
 * A lab opens a stage: one or more simulated matches (server, players, cables and weather; see `simulate`), screens that
 * show who sees what, and figures that are measured while it runs. The page drives a stage by the clock on the wall, a
 * probe drives the same stage by leaps; neither knows more about it than is said here.
 */

import type { Weather } from 'tickwire/testing'
import type { Pen, Role } from './pen.ts'
import type { Scope } from './scope.ts'

/** What a visitor may turn: a number or a switch. */
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

/** The dials as they stand. */
export type Settings<D extends Dials = Dials> = { readonly [name in keyof D]: Wide<D[name]['value']> }

/** `true` is the value of a switch, and may be turned to false. */
type Wide<V> = V extends number ? number : boolean

/** What a visitor holds; undefined while he leaves the play to a bot. */
export interface Hands {
  readonly keys: { readonly left: boolean; readonly right: boolean; readonly up: boolean; readonly down: boolean } | undefined
}

/** One picture of the stage: what somebody sees. */
export interface Screen {
  readonly title: string
  readonly role: Role
  /** Below the picture, in a few words. */
  readonly note?: string
  /** Draws on a field of 320 by 180. */
  draw(pen: Pen): void
}

/** Something measured. */
export interface Figure {
  readonly name: string
  readonly value: string
  readonly role?: Role
}

/** What the lab says is so, and whether it was, so far; undefined before enough was seen. */
export interface Claim {
  readonly text: string
  readonly isHeld: boolean | undefined
}

/** A match that time is let pass in: a `Simulation`, whatever its game. */
export interface Running {
  run(ms: number): void
  weather(weather: Weather): void
}

export interface Stage {
  readonly sims: readonly Running[]
  readonly screens: readonly Screen[]
  /** What is charted over time. */
  readonly scope?: Scope
  figures(): readonly Figure[]
  claim(): Claim
  /** The weather is another: what was measured before does not count. */
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
  /** The page of the guide that says more. */
  readonly guide: string
  /** What the arrow keys do, where they do something. */
  readonly hint?: string
  readonly dials: Dials
  open(settings: Settings, hands: Hands): Stage
}

/** What the dials say before anybody turned them. */
export function settingsOf<D extends Dials>(dials: D): Settings<D> {
  // reason: fromEntries forgets which name has which type; every value is that of the dial of its name.
  return Object.fromEntries(Object.entries(dials).map(([name, { value }]) => [name, value])) as Settings<D>
}

/** Declares a lab; the types of its settings follow from its dials. */
export function defineLab<const D extends Dials>(lab: Omit<Lab, 'dials' | 'open'> & {
  readonly dials: D
  open(settings: Settings<D>, hands: Hands): Stage
}): Lab {
  // reason: a lab is opened with settings of its own dials; the page and the probes make them with `settingsOf`.
  return lab as Lab
}

/** Lets time pass on a stage. Several matches go together, a tick at a time, so that they can be compared. */
export function advance({ sims }: Stage, ms: number): void {
  for (let left = ms; left > 0; left -= TICK_MS) for (const sim of sims) sim.run(Math.min(left, TICK_MS))
}

const TICK_MS = 1000 / 60

/** Nobody is there: bots play. */
export const NO_HANDS: Hands = { keys: undefined }
