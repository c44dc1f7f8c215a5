/**
 * A test that runs in a real browser, or says why it could not.
 */

import type { Browser } from 'playwright-core'
import { test } from 'vitest'
import { BROWSER_ADVICE, findBrowser, launchBrowser, thisMachine, type Machine } from './browser.ts'

/** A test with a browser of its own. */
export function browserTest(name: string, body: (browser: Browser, skip: (reason: string) => void) => Promise<void>): void {
  test(name, { timeout: 180_000 }, async ({ skip }) => await withBrowser(thisMachine, skip, (browser) => body(browser, skip)))
}

/** Runs `body` with a browser; without one it skips, or fails where nobody would see that it was skipped. */
export async function withBrowser(
  machine: Machine,
  skip: (reason: string) => void,
  body: (browser: Browser) => Promise<void>,
): Promise<void> {
  if (findBrowser(machine) === undefined && machine.env.CI !== 'true') return skip(BROWSER_ADVICE)
  const browser = await launchBrowser(machine)
  try {
    await body(browser)
  } finally {
    await browser.close()
  }
}
