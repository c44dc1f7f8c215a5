/** Requests of every kind to a fleet service and a tracker while their store fails, each timed. */

import { TestHost } from '../contract/tracker-stage.ts'
import { sleep } from './chaos-stage.ts'
import { percentile } from './players.ts'
import { askSeat } from './rows-fleet.ts'

const PAUSE_MS = 20

/** Figures of a watch: p99 of each kind in ms, and answers that are not as expected. */
export interface WatchFigures {
  readonly [figure: string]: number
  /** Lists and readiness that were not answered with 200. */
  readonly failed_answers: number
  /** New players without a seat. */
  readonly failed_seats: number
  /** Answers to publishing that are not 201, or while the store is away not 503 with `Retry-After`. */
  readonly wrong_publishes: number
}

/** The bars of a watch. */
export const WATCH_BARS = {
  rooms_ms_p99: 600, browse_ms_p99: 600, ready_ms_p99: 600, publish_ms_p99: 600, seat_ms_p99: 600,
  failed_answers: 0, failed_seats: 0, wrong_publishes: 0,
} as const

/** Asks for `forMs`. `isAway`: the store cannot take a new listing. */
export async function watchServices(
  { fleet, tracker }: { readonly fleet: string; readonly tracker: string }, forMs: number, isAway: boolean,
): Promise<WatchFigures> {
  const end = performance.now() + forMs
  const times: Record<string, number[]> = {}
  let [failed, seats, publishes] = [0, 0, 0]
  const repeat = async (kind: string, ask: () => Promise<void>): Promise<void> => {
    const own = times[kind] ??= []
    while (performance.now() < end) {
      const startedAt = performance.now()
      await ask()
      own.push(performance.now() - startedAt)
      await sleep(PAUSE_MS)
    }
  }
  const read = (url: string) => async (): Promise<void> => { if ((await answerOf(url)).status !== 200) failed++ }
  const host = new TestHost(1)
  await Promise.all([
    repeat('rooms', read(`${fleet}/rooms`)), repeat('browse', read(`${tracker}/v1/listings?limit=100`)),
    repeat('ready', read(`${fleet}/readyz`)), repeat('ready', read(`${tracker}/readyz`)),
    repeat('seat', async () => { if ((await askSeat(fleet)).status !== 200) seats++ }),
    repeat('publish', async () => {
      const { status, retryAfter } = await answerOf(`${tracker}/v1/listings`, { listing: host.sign() })
      if (isAway ? status !== 503 || retryAfter === null : status !== 201) publishes++
    }),
  ])
  const p99 = Object.entries(times).map(([kind, own]) => [`${kind}_ms_p99`, percentile(own, 0.99)] as const)
  return {
    ...Object.fromEntries(p99), failed_answers: failed, failed_seats: seats, wrong_publishes: publishes,
  }
}

async function answerOf(url: string, body?: object): Promise<{ status: number; retryAfter: string | null }> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(5000),
      ...(body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    await response.arrayBuffer()
    return { status: response.status, retryAfter: response.headers.get('retry-after') }
  } catch {
    return { status: 0, retryAfter: null }
  }
}
