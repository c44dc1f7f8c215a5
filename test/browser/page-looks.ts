/** How a page looks: the contrast of its text, and controls that have space of their own. */

import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/**
 * The contrast of the text of some elements, at its least: before the darkest and the brightest picture that may lie
 * behind a page.
 */
export async function contrastsOf(
  page: Page,
  selectors: readonly string[],
): Promise<{ readonly name: string; readonly least: number }[]> {
  return await page.evaluate((names: readonly string[]) => {
    const parse = (text: string): number[] => text.match(/[\d.]+/g)!.map(Number)
    const luminance = (rgb: number[]): number => {
      const [r = 0, g = 0, b = 0] = rgb
        .map((value) => value / 255)
        .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    return names.map((name) => {
      const element = document.querySelector(name)!
      const layers: number[][] = []
      for (let at: Element | null = element; at !== null && at !== document.body; at = at.parentElement)
        layers.unshift(parse(getComputedStyle(at).backgroundColor))
      const ink = luminance(parse(getComputedStyle(element).color).slice(0, 3))
      const least = Math.min(
        ...[20, 190].map((scene) => {
          const ground = luminance(
            layers.reduce(
              (under, [r = 0, g = 0, b = 0, alpha = 1]) =>
                [r, g, b].map((value, at) => value * alpha + under[at]! * (1 - alpha)),
              [scene, scene, scene],
            ),
          )
          return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05)
        }),
      )
      return { name, least: Math.round(least * 10) / 10 }
    })
  }, selectors)
}

/** On a screen of that size no control lies on anything else, or beside the screen. */
export async function expectRoom(phone: Page, width: number, height: number): Promise<void> {
  await phone.setViewportSize({ width, height })
  expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  const boxes = await phone.evaluate(() =>
    [
      '#touch-fire',
      '#touch-jump',
      '#touch-weapon',
      '#touch-menu',
      '#touch-chat',
      '#vitals',
      '#weapons',
      '#score',
      '#clock',
      '#net',
    ].map((name) => ({ name, ...(document.querySelector(name)!.getBoundingClientRect().toJSON() as DOMRect) })),
  )
  for (const a of boxes) {
    for (const b of boxes)
      if (a.name < b.name && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        expect(`${a.name} on ${b.name} at ${width}`).toBe('')
    expect([a.name, a.left >= 0, a.right <= width, a.bottom <= height]).toEqual([a.name, true, true, true])
  }
}
