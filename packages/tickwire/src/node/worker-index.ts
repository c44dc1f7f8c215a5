/** Whether this process is a worker, and which. `worker.ts` starts workers with an environment variable. */

export const WORKER_VARIABLE = 'TICKWIRE_WORKER'

let known: number | undefined
let isRead = false

/** The index of this worker. Undefined in every other process. */
export function workerIndex(): number | undefined {
  if (!isRead) {
    const text = process.env[WORKER_VARIABLE]
    known = text === undefined ? undefined : Number(text)
    // Programs that the worker starts are not workers.
    delete process.env[WORKER_VARIABLE]
    isRead = true
  }
  return known
}
