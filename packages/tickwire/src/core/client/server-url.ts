/**
 * The address of a server, as a game author writes it. Core has no URL parser, so the platform's is handed in.
 *
 * Paths of the server are relative to the address, like links on a page: a server behind `https://example.com/duel/` is
 * asked at `https://example.com/duel/tickwire`, and one behind `https://example.com/play.html` at
 * `https://example.com/tickwire`.
 */

import { ConfigError } from '../base/assert.ts'

/** The part of a URL that is used here. The class `URL` of every platform has it. */
export interface ParsedUrl {
  readonly protocol: string
  readonly hostname: string
}

/** The parsed address. Throws ConfigError if it is not a URL, or has a scheme that the platform cannot use. */
export function parseServerUrl<U extends ParsedUrl>(
  text: string,
  parse: (text: string) => U,
  schemes: readonly string[],
): U {
  let url: U | undefined
  try {
    url = parse(text)
  } catch {
    url = undefined
  }
  // `localhost:4000` is a URL: its scheme is `localhost`.
  if (url !== undefined && schemes.includes(url.protocol.slice(0, -1))) return url
  const host = /^[\w.-]+(:\d+)?$/.test(text) ? text : 'localhost'
  const example = host.includes(':') ? host : `${host}:4000`
  throw new ConfigError(
    'connect.url',
    `not the URL of a server (expected ${schemes.map((scheme) => `${scheme}://`).join(', ')}, got "${text}")`,
    `write ${schemes[0]}://${example}.`,
  )
}

/** Whether the server is on this machine. */
export function isLocalHost(hostname: string): boolean {
  return /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(hostname)
}
