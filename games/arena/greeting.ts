/** The text printed at start: the address, how to open it on a phone, available and missing transports. */

import type { LoadWeather } from 'tickwire/node'
import { renderUnicodeCompact } from 'uqr'
import { describeWeather } from './weather.ts'

export interface Greeted {
  readonly url: string
  /** Addresses of this machine that others can reach. */
  readonly addresses: readonly string[]
  readonly transports: readonly string[]
  /** Transports that are not offered, and why. */
  readonly missing: { readonly [transport: string]: string }
  readonly seats: { readonly players: number; readonly spectators: number }
  readonly tickRate: number
  readonly bots: number
  readonly level?: string
  readonly isLocal: boolean
  /** The code and the link of a hosted match. */
  readonly hosted?: { readonly code: string; readonly link: string } | undefined
  readonly weather?: LoadWeather | undefined
  /** The file that the match is recorded to. */
  readonly recordPath?: string
}

export function greeting(facts: Greeted): string {
  const { url, addresses, transports, missing, seats, tickRate, bots, level, isLocal, hosted, weather, recordPath } =
    facts
  const isReached = !isLocal && hosted === undefined
  const urls = isReached ? addresses.map((address) => `http://${address}:${new URL(url).port}`) : []
  const [first] = urls
  const line = (name: string, text: string): string => `  ${name.padEnd(14)}${text}`
  return [
    '', ...(hosted === undefined ? [line('Arena', isLocal ? `${url}/?local` : url)] : [
      line('Arena', hosted.code), line('link', hosted.link),
    ]),
    ...urls.map((each) => line('on the net', each)),
    ...(isLocal || hosted !== undefined || first !== undefined
      ? []
      : [line('no network', 'others cannot join; on this machine everything works')]),
    ...(isLocal
      ? [line('alone', 'the page plays by itself, against bots')]
      : [
          line(
            'match',
            `${tickRate} ticks a second, ${bots}${level === undefined ? '' : ` ${level}`} bots, ` +
              `up to ${seats.players} players and ${seats.spectators} spectators`,
          ),
          ...(hosted !== undefined ? [] : [
            line('transports', transports.join(', ')),
            ...Object.entries(missing).map(([name, why]) => line('without', `${name}: ${why}`)),
          ]),
        ]),
    ...(weather === undefined ? [] : [line('weather', describeWeather(weather))]),
    ...(recordPath === undefined ? [] : [line('recorded', recordPath)]),
    ...(hosted === undefined ? [] : [
      line('hosted', 'you host it: the match ends when you leave it'),
      '', '  Join from a phone:', '', qr(hosted.link),
    ]),
    ...(first === undefined ? [] : ['', '  Join from a phone on the same network:', '', qr(first)]),
    '', '  Ctrl-C ends it.',
  ].join('\n')
}

/** A QR code for a terminal, which is dark: two rows of modules in one row of characters. */
function qr(text: string): string {
  return renderUnicodeCompact(text, { border: 2 }).split('\n').map((row) => `  ${row}`).join('\n')
}
