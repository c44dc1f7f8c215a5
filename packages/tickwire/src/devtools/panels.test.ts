import { expect, test } from 'vitest'
import { mistakeText, noMistakeText } from './panels.ts'
import { shorten } from './pen.ts'

test('[DEV4] a list without mispredictions does not claim that there were none before it was opened', () => {
  expect(noMistakeText(0)).toBe('every prediction was right so far')
  expect(noMistakeText(9)).toBe('no misprediction since the overlay was opened')
})

test('[DEV4] a long misprediction is cut before the column of its distance', () => {
  const text = mistakeText({
    tick: 1476, entity: 'Duck', id: 65537, field: 'Duck.at', distance: 1.16,
    predicted: { x: -183.26, y: 162.34 }, received: { x: -184.42, y: 162.34 }, input: undefined, lateInputs: 0,
  })
  expect(text).toBe('1476 Duck.at: (-183.26, 162.34) → (-184.42, 162.34)')
  expect(shorten(text, 40)).toBe('1476 Duck.at: (-183.26, 162.34) → (-184…')
  expect(shorten(text, 60)).toBe(text)
  expect(shorten(text, 0)).toBe('…')
})
