/** docs/guide/operations.md: a game server that sends traces, if OTEL_EXPORTER_OTLP_ENDPOINT names a collector. */

import { openTraces } from '@tickwire/services'
import { serve } from 'tickwire/node'
import { game } from './first-game/game.ts'

// #region serve
const port = Number(process.env.PORT ?? 4000)
const traces = openTraces({ service: 'my-game' })
const serving = await serve(game, { port, ...(traces && { tracer: traces.tracer }) })
// #endregion
console.log(`serving ${serving.url}`)
