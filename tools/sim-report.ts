/** What a swarm is asked for, and its report by parts. It has no code: it is part of the bundle of worlds. */

/** The parts of a swarm: kinds of worlds that are counted apart. */
export const SWARM_PARTS = [
  'transport', 'match', 'crowd', 'lockstep', 'mesh', 'rtype', 'path', 'services',
] as const
export type SwarmPart = (typeof SWARM_PARTS)[number]

/** How many marks were passed. */
export interface Coverage {
  readonly hit: number
  readonly all: number
}

/** Which worlds to run: seeds start .. start + seeds - 1. */
export interface SwarmOptions {
  readonly start: number
  readonly seeds: number
  /** A part, or a feature of matches. */
  readonly only?: string
  /** Plays every part until it has this many endpoint ticks, instead of a share of the seeds. */
  readonly each?: number
  /** Called after each seed, to report progress. */
  readonly onSeed?: (seed: number, failures: readonly SwarmFailure[], endpointTicks: number, coverage: Coverage) => void
  /** Called before each seed: whether to stop. */
  readonly isOver?: () => boolean
  /** Processor time in ms, for the rates of parts. The simulation itself does not use it. */
  readonly clock?: () => number
}

/** Totals of a part. Bare endpoints and whole players differ too much in cost for one common rate. */
export interface PartReport {
  readonly worlds: number
  readonly endpointTicks: number
  /** Processor time. */
  readonly ms: number
}

/** A seed that broke something. */
export interface SwarmFailure {
  readonly seed: number
  readonly part: SwarmPart
  readonly invariant: string
  readonly problem: string
  readonly weather: string
  /** The smallest network faults with which the same invariant still fails. */
  readonly shrunk: string
  /** The scenario that is saved, so that every test run plays it again. */
  readonly regression?: object
}

/** The results. Further keys are printed with `--json` as they are. */
export interface SwarmReport {
  readonly seeds: number
  readonly worlds: number
  readonly matches: number
  readonly crowds: number
  readonly violations: number
  readonly failures: readonly SwarmFailure[]
  /** One endpoint, awake, advanced by a sixtieth of a simulated second. */
  readonly endpointTicks: number
  readonly simulatedSeconds: number
  readonly traceHash: string
  /** How often each mark was passed. */
  readonly marks: Readonly<Record<string, number>>
  readonly parts: Readonly<Record<SwarmPart, PartReport>>
}
