/** Simulated network conditions from a command line, which `serve` applies to every connection. */

import type { LoadWeather } from 'tickwire/node'

/** `100ms,20ms,5%`: latency, jitter, loss; jitter and loss are optional. Undefined when it cannot be parsed. */
export function parseWeather(text: string): LoadWeather | undefined {
  const match = /^(\d+(?:\.\d+)?)(?:ms)?(?:,(\d+(?:\.\d+)?)(?:ms)?)?(?:,(\d+(?:\.\d+)?)%)?$/.exec(
    text.replaceAll(' ', ''),
  )
  if (match === null) return undefined
  const weather = { latencyMs: Number(match[1]), jitterMs: Number(match[2] ?? 0), loss: Number(match[3] ?? 0) / 100 }
  return weather.loss < 1 && weather.latencyMs <= 5000 ? weather : undefined
}

export function describeWeather({ latencyMs, jitterMs, loss }: LoadWeather): string {
  return `${latencyMs} ms each way, ${jitterMs} ms of jitter, ${loss * 100} % lost`
}
