/** What `tickwire bandwidth` prints for the battle in docs/guide/examples/bandwidth.ts, in either declaration. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Loose, recordBattle, Tight } from '../../docs/guide/examples/bandwidth.ts'
import { runTickwire } from '../../packages/tickwire/src/cli/run.ts'

const BATTLES = { before: Loose, after: Tight } as const

const LEARNT_FROM = 5
const SNAPSHOT_RATES = [60, 30, 20, 10] as const

/**
 * What `tickwire bandwidth` prints for the tight battle with the entropy codec, with or without tables trained on
 * another battle.
 */
export function profileCodec(isTrained: boolean): string {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-'))
  try {
    const [other, file, priors] = [join(folder, 'other.twr'), join(folder, 'battle.twr'), join(folder, 'priors.json')]
    writeFileSync(other, recordBattle(Tight, LEARNT_FROM))
    writeFileSync(file, recordBattle(Tight))
    let table = ''
    const run = (args: readonly string[]): void => {
      table = ''
      runTickwire(args, {
        print: (line) => {
          table += `${line}\n`
        },
        complain: (line) => {
          // Progress goes there too, so that results can be piped.
          if (!/: pass \d+ of \d+$/.test(line)) throw new Error(line)
        },
        nowSeconds: () => 0,
        entropy: { fill: () => {} },
      })
    }
    if (isTrained) run(['train', other, '-o', priors])
    run(['bandwidth', file, '--no-advice', ...(isTrained ? ['--priors', priors] : [])])
    return table
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The first line that it prints for the tight battle, for each snapshot rate. */
export function profileRates(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-'))
  try {
    const file = join(folder, 'battle.twr')
    return SNAPSHOT_RATES.map((snapshotRate) => {
      writeFileSync(file, recordBattle(Tight, undefined, snapshotRate))
      const lines: string[] = []
      runTickwire(['bandwidth', file, '--no-advice'], {
        print: (line) => lines.push(line),
        complain: (line) => {
          // Progress goes there too, so that results can be piped.
          if (!/: pass \d+ of \d+$/.test(line)) throw new Error(line)
        },
        nowSeconds: () => 0,
        entropy: { fill: () => {} },
      })
      return `snapshotRate: ${snapshotRate}   ${(lines[0] ?? '').replace(/, for one client.*/s, '')}\n`
    }).join('')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What the tool prints, and draws. */
export function profileBattle(name: keyof typeof BATTLES): { readonly table: string; readonly picture: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-'))
  try {
    const [file, picture] = [join(folder, `${name}.twr`), join(folder, `${name}.svg`)]
    writeFileSync(file, recordBattle(BATTLES[name]))
    let table = ''
    const code = runTickwire(['bandwidth', file, '--svg', picture], {
      print: (line) => {
        table += `${line}\n`
      },
      complain: (line) => {
        throw new Error(line)
      },
      nowSeconds: () => 0,
      entropy: { fill: () => {} },
    })
    if (code !== 0) throw new Error(`exit code ${code}`)
    return { table, picture: readFileSync(picture, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
