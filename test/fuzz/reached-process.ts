/**
 * Prints which functions the fuzz targets reach: all of them run their seeds, under the coverage of V8. The last line
 * is JSON: `file function` of every function of the packages that was called.
 */

import { Session } from 'node:inspector'
import { fileURLToPath } from 'node:url'
import { findTargets } from './run-fuzz-worker.ts'

interface CoveredFunction {
  readonly functionName: string
  readonly ranges: readonly { readonly count: number }[]
}
interface Coverage {
  readonly result: readonly { readonly url: string; readonly functions: readonly CoveredFunction[] }[]
}

const session = new Session()
session.connect()
const post = (method: string, parameters: object = {}): Coverage => {
  let result: unknown
  session.post(method, parameters, (_error, answer) => { result = answer })
  // reason: commands of a session of the same thread are answered before `post` returns.
  return result as Coverage
}

post('Profiler.enable')
post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
for (const { target } of await findTargets()) for (const seed of target.seeds()) target.run(seed.slice())
const called = new Set<string>()
for (const { url, functions } of post('Profiler.takePreciseCoverage').result) {
  if (!url.startsWith('file:')) continue
  const file = fileURLToPath(url).replaceAll('\\', '/').split('/packages/')[1]?.replace(/\?.*$/, '')
  if (file === undefined) continue
  for (const { functionName, ranges } of functions)
    if ((ranges[0]?.count ?? 0) > 0) called.add(`${file} ${functionName}`)
}
console.log(JSON.stringify([...called].sort()))
