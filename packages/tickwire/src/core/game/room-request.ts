/** What a client sends to ask for a seat: the request, and the options of a new room in front of its join data. */

import { concat } from '../crypto/label.ts'
import type { ConnectPass } from '../endpoint/endpoint.ts'
import { encodeJoin, type SentRequest } from '../rooms/join-body.ts'
import type { Game } from './define-game.ts'
import type { JoinValues } from './join-codec.ts'

const NO_BYTES = new Uint8Array(0)

/** The user bytes of a Response, and the pass with the data. Throws ConfigError when the request does not fit. */
export function encodeRequest(
  { optionsCodec }: Pick<Game, 'optionsCodec'>,
  join: SentRequest | undefined,
  pass: ConnectPass,
): { readonly user: Uint8Array; readonly pass: ConnectPass } {
  if (join === undefined) return { user: NO_BYTES, pass }
  const values = 'create' in join ? join.options : undefined
  const options = values === undefined ? NO_BYTES : optionsCodec.encode(values as JoinValues)
  const user = encodeJoin({ ...join, optionsSize: options.length })
  return { user, pass: options.length === 0 ? pass : { ...pass, data: concat(options, pass.data ?? NO_BYTES) } }
}
