/** Prints the report of a soak of programs. */

import type { Growth } from '../test/soak/growth.ts'
import type { ProgramReport } from '../test/soak/program-soak.ts'

export function growthLine({ first, last, slopePerHour }: Growth, unit: string): string {
  return `${first.toFixed(1)} to ${last.toFixed(1)} ${unit}, ${slopePerHour.toFixed(1)} ${unit} an hour`
}

export function reportPrograms(
  report: ProgramReport,
): { readonly report: ProgramReport; readonly faults: readonly string[] } {
  const { programs, crowds, tookMs, kills, faults } = report
  console.log('')
  for (const [name, { rssMiB, descriptors }] of Object.entries(programs))
    print(name, `${growthLine(rssMiB, 'MiB')}; ${growthLine(descriptors, 'descriptors')}`)
  for (const [name, { joins, leaves, ends }] of Object.entries(crowds))
    print(name, `${joins} joins, ${leaves} leaves, ends ${JSON.stringify(ends)}`)
  for (const [what, { count, p50, p99 }] of Object.entries(tookMs))
    print(what, `${count} times, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`)
  for (const { killed, backMs } of kills)
    print(`killed ${killed}`, `all back after ${backMs.map(Math.round).join(', ') || '?'} ms`)
  return { report, faults }
}

function print(what: string, line: string): void {
  console.log(`${what.padEnd(18)}${line}`)
}
