/**
 * A test that runs in a real browser, or says why it could not.
 */

import type { Browser } from 'playwright-core'
import { afterAll, test } from 'vitest'
import { BROWSER_ADVICE, findBrowser, launchBrowser, thisMachine, type Machine } from './browser.ts'

type Body = (browser: Browser) => Promise<void>

/** The browser of this test file. Each page has a context of its own, and so shares nothing with pages before it. */
let shared: Browser | undefined

/** A test with a browser. All tests of a file use one browser; the pages of a test are closed when it ends. */
export function browserTest(
  name: string,
  body: (browser: Browser, skip: (reason: string) => void) => Promise<void>,
  timeout: number = 180_000,
): void {
  test(
    name,
    { timeout },
    async ({ skip }) => await withBrowser(thisMachine, skip, (browser) => body(browser, skip)),
  )
}

afterAll(async () => await shared?.close())

/** Runs `body` with a browser. Without a browser it skips, or fails under CI, where a skipped test is not seen. */
export async function withBrowser(machine: Machine, skip: (reason: string) => void, body: Body): Promise<void> {
  if (findBrowser(machine) === undefined && machine.env.CI !== 'true') return skip(BROWSER_ADVICE)
  if (findBrowser(machine) === undefined || shared?.isConnected() !== true) shared = await launchBrowser(machine)
  try {
    await body(shared)
  } finally {
    for (const context of shared.contexts()) await context.close()
  }
}
