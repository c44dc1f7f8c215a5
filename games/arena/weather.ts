/**
 * Bad weather for a served match: every datagram of every player, both ways, comes late, unevenly, or not at all.
 *
 * It stands between the host and its ports, so it is the same over every transport. For trying out what a game feels like.
 */

import type { DatagramPort, Millis, ServerHost, Shape } from 'tickwire'

/** One way, in milliseconds; loss as a share. */
export interface Weather {
  readonly latencyMs: number
  readonly jitterMs: number
  readonly loss: number
}

/** `100ms,20ms,5%`: latency, jitter, loss; each may be left out. Undefined when it is none of that. */
export function parseWeather(text: string): Weather | undefined {
  const match = /^(\d+(?:\.\d+)?)(?:ms)?(?:,(\d+(?:\.\d+)?)(?:ms)?)?(?:,(\d+(?:\.\d+)?)%)?$/.exec(text.replaceAll(' ', ''))
  if (match === null) return undefined
  const weather = { latencyMs: Number(match[1]), jitterMs: Number(match[2] ?? 0), loss: Number(match[3] ?? 0) / 100 }
  return weather.loss < 1 && weather.latencyMs <= 5000 ? weather : undefined
}

export function describeWeather({ latencyMs, jitterMs, loss }: Weather): string {
  return `${latencyMs} ms each way, ${jitterMs} ms of jitter, ${loss * 100} % lost`
}

/** Puts the weather between a host and whoever drives it. */
export function addWeather<I extends Shape>(host: ServerHost<I>, weather: Weather): void {
  const receive = host.handleDatagram.bind(host)
  const drain = host.drain.bind(host)
  const later = (run: () => void): void => {
    if (Math.random() < weather.loss) return
    setTimeout(run, weather.latencyMs + Math.random() * weather.jitterMs)
  }
  host.handleDatagram = (_now: Millis, from: string, bytes: Uint8Array, length: number): void => {
    const copy = bytes.slice(0, length)
    later(() => receive(performance.now(), from, copy, length))
  }
  host.drain = (now: Millis, port: Pick<DatagramPort, 'send'>): Millis => drain(now, {
    send: (to, bytes, length) => {
      const copy = bytes.slice(0, length)
      later(() => port.send(to, copy, length))
    },
  })
}
