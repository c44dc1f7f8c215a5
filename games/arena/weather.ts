/** Weather from a command line: what `serve` puts on every line, to feel what the engine does about it. */

import type { LoadWeather } from 'tickwire/node'

/** `100ms,20ms,5%`: latency, jitter, loss; each may be left out. Undefined when it is none of that. */
export function parseWeather(text: string): LoadWeather | undefined {
  const match = /^(\d+(?:\.\d+)?)(?:ms)?(?:,(\d+(?:\.\d+)?)(?:ms)?)?(?:,(\d+(?:\.\d+)?)%)?$/.exec(text.replaceAll(' ', ''))
  if (match === null) return undefined
  const weather = { latencyMs: Number(match[1]), jitterMs: Number(match[2] ?? 0), loss: Number(match[3] ?? 0) / 100 }
  return weather.loss < 1 && weather.latencyMs <= 5000 ? weather : undefined
}

export function describeWeather({ latencyMs, jitterMs, loss }: LoadWeather): string {
  return `${latencyMs} ms each way, ${jitterMs} ms of jitter, ${loss * 100} % lost`
}
