/**
 * The server that `tickwire conformance` was pointed at: the port may be the one that the server prints, which is the
 * port of its page. The page then says the UDP port, and has the text of the game for its fingerprint.
 */

import { fingerprintBytes } from '../node/load-game.ts'
import { GAME_PATH, INFO_PATH, type ServerInfo } from '../node/serve-routes.ts'
import { UsageError } from './command.ts'

/** What the page of a server says. */
export interface PageAnswer {
  readonly url: string
  /** The port of native UDP. */
  readonly udpPort: number
  /** The fingerprint of its game, or of the first one. Undefined if the page does not have the game's text. */
  readonly fingerprint: Uint8Array | undefined
}

const ANSWER_MS = 2000

/** Asks the page at this port. Undefined if there is none: then the port is that of UDP. */
export async function askPage(host: string, port: number): Promise<PageAnswer | undefined> {
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  const info = await textOf(`${url}${INFO_PATH}`).then(parsed)
  if (info?.missing === undefined) return undefined
  if (info.udp === undefined)
    throw new UsageError(
      `${url} is the page of a server without UDP: ${info.missing.udp ?? 'it is not offered'}. `
        + 'Fix: serve with UDP, which is on by default.',
    )
  const text = await textOf(`${url}${GAME_PATH}`)
  return { url, udpPort: info.udp.port, fingerprint: text === undefined ? undefined : fingerprintBytes(text) }
}

function parsed(text: string | undefined): Partial<ServerInfo> | undefined {
  try {
    return text === undefined ? undefined : JSON.parse(text) as Partial<ServerInfo>
  } catch {
    return undefined
  }
}

/** The body of a successful answer. */
async function textOf(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
    return answer.ok ? await answer.text() : undefined
  } catch {
    return undefined
  }
}
