/** axe-core, which finds what makes a page unusable for people with a screen reader, a keyboard or weak eyes. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe-core finds. */
interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[]
}

/** Runs axe-core in the page as it is. Names each element and why. */
export async function violationsOn(page: Page, name: string): Promise<string[]> {
  await page.evaluate(AXE)
  const found = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })") as { violations: Violation[] }
  return found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').flatMap(
    ({ id, nodes }) => nodes.map(({ target, failureSummary }) => (
      `${name}: ${id} at ${target.join(' ')}: ${failureSummary.split('\n').slice(1).join(' ').trim()}`)),
  )
}
