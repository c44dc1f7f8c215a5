import { expect, test } from 'vitest'
import { form } from '../form.ts'
import { playRejoin } from './rejoin-swarm.ts'

test('[REJOIN11, I11, I40, I41, I42, I43, I44] clients join old matches, with crashes and liars', () => {
  const sums: Record<string, number> = {}
  for (let seed = 1; seed <= form(4, 300); seed++) {
    const { violation, counts } = playRejoin(seed)
    expect(violation && `seed ${seed}: ${violation.invariant} ${violation.problem}`).toBeUndefined()
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  }
  for (const name of ['joined', 'images passed', 'images refused', 'verified']) expect(sums[name]).toBeGreaterThan(0)
})
