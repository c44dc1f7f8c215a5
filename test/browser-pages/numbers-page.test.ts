import { expect, test } from 'vitest'
import { numbersDigest, partDigest, PARTS } from './numbers-page.ts'

/** If these change, recorded replays no longer play: such a change breaks the wire format. */
const GOLDEN: Readonly<Record<string, string>> = {
  'functions of one number': '504ecc3930c407c4',
  'functions of two numbers': '3e6cb4e5746bc161',
  'vectors and rotations': '93d1da81f6f4945a',
  'fixed point': 'cf5d404134a993d3',
  generators: '008682c2066ae6d6',
  hashes: 'e814837e89d12ad7',
}

test('[NUM7] every number is the golden one, on this engine as on all others', () => {
  expect(Object.fromEntries(Object.keys(PARTS).map((part) => [part, partDigest(part)]))).toEqual(GOLDEN)
  expect(numbersDigest()).toBe('60573b913ba1403f')
})
