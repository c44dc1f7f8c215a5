/** What the processes of a soak tell each other. */

/** From the server, every second. */
export interface ServerSample {
  readonly rssMiB: number
  readonly heapMiB: number
  readonly handles: number
  readonly connections: number
  /** Of the second: milliseconds that a pump with a tick in it took. */
  readonly ticks: readonly number[]
  /** Ticks that began a whole period or more too late. */
  readonly missed: number
  /** What was dropped since the start, by reason. */
  readonly drops: Readonly<Record<string, number>>
  /** Key epochs that connections have gone through since the start. */
  readonly rekeys: number
}

/** From the players, every second. */
export interface PlayersSample {
  readonly playing: number
  readonly joins: number
  readonly leaves: number
  /** Ends that nobody asked for, by their reason. */
  readonly ends: Readonly<Record<string, number>>
  /** Datagrams that the line lost on purpose. */
  readonly lost: number
}

/** From the players, once after each return of the server. */
export interface ComeBack {
  /** How they were told that the server had forgotten them. */
  readonly ends: Readonly<Record<string, number>>
  /** Milliseconds from its return until the last of those who played plays again. */
  readonly backMs: number
  readonly players: number
}

export type PlayersTold = { readonly sample: PlayersSample } | { readonly comeBack: ComeBack }

/** The line: each way. */
export const LINE = { latencyMs: 40, jitterMs: 15, loss: 0.05, duplication: 0.01 } as const
