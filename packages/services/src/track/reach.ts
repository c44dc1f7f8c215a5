/**
 * Finds out whether a game server can be reached from outside. The tracker connects to the address that the request
 * came from, and to no other: a request cannot make it connect to a third party.
 */

import { get } from 'node:http'
import { isIPv6 } from 'node:net'
import { textToKey } from 'tickwire/engine'

const REACH_MS = 2000
const ANSWER_BYTES_MAX = 16_384

/** Whether the server at `http://address:port/tickwire/info` has this identity (64 hexadecimal digits). */
export async function isReachable(address: string, port: number, identity: string): Promise<boolean> {
  const body = await askInfo(address, port)
  try {
    const { identity: text } = JSON.parse(body ?? '') as { readonly identity?: unknown }
    const key = typeof text === 'string' ? textToKey(text) : undefined
    return key?.kind === 'server-public' && Buffer.from(key.key).toString('hex') === identity
  } catch {
    return false
  }
}

/** The address without the mark of a mapped one. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
}

/** The body, without following redirects; undefined when nothing answers, or too much. */
async function askInfo(address: string, port: number): Promise<string | undefined> {
  const host = plainAddress(address)
  return await new Promise((resolve) => {
    const request = get({
      host, port, path: '/tickwire/info', timeout: REACH_MS, agent: false,
      headers: { host: isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}` },
    }, (response) => {
      let text = ''
      if (response.statusCode !== 200) return end(undefined)
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > ANSWER_BYTES_MAX) end(undefined)
      })
      response.on('end', () => end(text))
      response.on('error', () => end(undefined))
    })
    const late = setTimeout(() => end(undefined), REACH_MS)
    const end = (body: string | undefined): void => {
      clearTimeout(late)
      request.destroy()
      resolve(body)
    }
    request.on('error', () => end(undefined))
    request.on('timeout', () => end(undefined))
  })
}
