/** Opens traces, at the address of its argument if there is one, and makes a span. Says whether the SDK was loaded. */

import { createRequire } from 'node:module'
import { openTraces } from '../../packages/services/src/index.ts'

const [endpoint, parent] = process.argv.slice(2)
const traces = openTraces({ service: 'alone', endpoint })
traces?.tracer.start('one', parent).end()
await traces?.close()
const files = Object.keys(createRequire(import.meta.url).cache)
const loaded = files.filter((path) => path.includes('@opentelemetry/sdk-node'))
console.log(JSON.stringify({ isOn: traces !== undefined, loaded: loaded.length }))
