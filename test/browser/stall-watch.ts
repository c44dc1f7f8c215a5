/**
 * Measures how long a page and this process were kept from running, so that a test can distinguish a slow machine from
 * a bug.
 */

import type { Page } from 'playwright-core'

/** Both sides wake up this often, and note by how much they are late. */
const BEAT_MS = 5

/** The longest stalls since the last reset, and the highest value that was read in the page. */
export interface Stalls {
  readonly pageMs: number
  readonly processMs: number
  readonly value: number
}

export interface StallWatch {
  reset(): Promise<void>
  worst(): Promise<Stalls>
}

declare const stallWatch: { pageMs: number; value: number }

/**
 * Starts to measure. `read` is called in the page at every beat. The page ends its watch when it is closed, and the
 * watch in this process does not keep the process alive.
 */
export async function watchStalls(page: Page, read: () => number): Promise<StallWatch> {
  await page.evaluate(`{
    const read = ${read}
    const watch = { pageMs: 0, value: 0 }
    let at = performance.now()
    setInterval(() => {
      const now = performance.now()
      watch.pageMs = Math.max(watch.pageMs, now - at - ${BEAT_MS})
      watch.value = Math.max(watch.value, read())
      at = now
    }, ${BEAT_MS})
    window.stallWatch = watch
  }`)
  let processMs = 0
  let at = performance.now()
  const beat = setInterval(() => {
    const now = performance.now()
    processMs = Math.max(processMs, now - at - BEAT_MS)
    at = now
  }, BEAT_MS)
  beat.unref()
  page.once('close', () => clearInterval(beat))
  return {
    async reset() {
      await page.evaluate(() => Object.assign(stallWatch, { pageMs: 0, value: 0 }))
      processMs = 0
    },
    worst: async () => ({ ...(await page.evaluate(() => stallWatch)), processMs }),
  }
}
