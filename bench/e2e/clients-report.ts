/** The half of the bench that runs inside the process of the clients. */

/** The report of the clients' process. */
export interface ClientsReport {
  /** Players that the first client sees. */
  readonly seen: number
  /** CPU time that the clients used since `measure`. */
  readonly cpuMs: number
}

const JOINING_AT_ONCE = 10

/** Lets clients join, several at a time: with a long round trip, one after the other would take minutes. */
export async function joinAll<T>(players: number, join: (index: number) => Promise<T>): Promise<T[]> {
  const joined: T[] = []
  while (joined.length < players) {
    const first = joined.length
    const group = Array.from({ length: Math.min(JOINING_AT_ONCE, players - first) }, (_, at) => join(first + at))
    joined.push(...(await Promise.all(group)))
  }
  return joined
}

/** Reports that all clients are in, and then what the bench asks. `seen` counts the players that one client sees. */
export function allIn(seen: () => number): void {
  let from = process.cpuUsage()
  process.on('message', (message) => {
    if (message === 'measure') from = process.cpuUsage()
    if (message !== 'report') return
    const { user, system } = process.cpuUsage(from)
    const report: ClientsReport = { seen: seen(), cpuMs: (user + system) / 1000 }
    process.send?.(report)
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.('in')
}

/** Ends the process: with a missing client the bench would measure another game. */
export function fail(index: number, reason: string): never {
  console.error(`client ${index}: ${reason}`)
  process.exit(1)
}
