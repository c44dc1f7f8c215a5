import { expect, test } from 'vitest'
import { qrMatrix, qrText } from './qr.ts'

/** Rows of a code as hexadecimal, the first module first. */
function rowsOf(text: string, mask: number): string[] {
  return (qrMatrix(text, mask) ?? []).map((row) =>
    BigInt(`0b${row.map((isDark) => (isDark ? 1 : 0)).join('')}`).toString(16),
  )
}

/** What another encoder (qrcode-generator 2.0.4, level L) draws for it. */
const OTHERS = [
  '1fde97f',
  '1043441',
  '174a85d',
  '1746f5d',
  '174705d',
  '104a041',
  '1fd557f',
  '19c00',
  '1b49241',
  'aa4b9e',
  'bc9ef9',
  '51029f',
  '76c5c1',
  '1ea5a32',
  '1ce0f8f',
  '1785515',
  '14d3df6',
  '1a712',
  '1fc9d59',
  '1046d11',
  '17533f8',
  '175106b',
  '1747417',
  '105b2f7',
  '1fd2749',
]

test('[ARENA10] a code is module for module what another encoder draws', () => {
  const codes = Array.from({ length: 8 }, (_, mask) => rowsOf('http://192.168.1.20:4000', mask))
  expect(codes).toContainEqual(OTHERS)
  expect(qrText('http://192.168.1.20:4000').split('\n')).toHaveLength(14)
  expect(qrMatrix('x'.repeat(200))).toBeUndefined()
})
