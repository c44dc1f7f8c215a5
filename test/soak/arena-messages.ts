/** The messages between the processes of a soak of the arena. */

/** From the server, every second. */
export interface ServerSample {
  readonly rssMiB: number
  readonly heapMiB: number
  readonly handles: number
  readonly connections: number
  /** The durations of pumps with a tick in the last second, in milliseconds. */
  readonly ticks: readonly number[]
  /** Ticks that began a whole period or more too late. */
  readonly missed: number
  /** Dropped packets since the start, by reason. */
  readonly drops: Readonly<Record<string, number>>
  /** Key epochs that connections have gone through since the start. */
  readonly rekeys: number
}

/** From the players, every second. */
export interface PlayersSample {
  readonly playing: number
  readonly joins: number
  readonly leaves: number
  /** Unrequested ends, by their reason. */
  readonly ends: Readonly<Record<string, number>>
  /** Datagrams that the link lost on purpose. */
  readonly lost: number
}

/** From the players, once after each return of the server. */
export interface ComeBack {
  /** The reasons with which their connections to the killed server ended. */
  readonly ends: Readonly<Record<string, number>>
  /** Milliseconds from its return until the last former player plays again. */
  readonly backMs: number
  readonly players: number
}

export type PlayersMessage = { readonly sample: PlayersSample } | { readonly comeBack: ComeBack }

/** The link: each way. */
export const LINE = { latencyMs: 40, jitterMs: 15, loss: 0.05, duplication: 0.01 } as const
