/**
 * Credentials for TURN (RFC 8656), made from a relay token: the user name is the token as text, the password is always
 * the same.
 *
 * ```ts
 * new RTCPeerConnection({ iceServers: [{ urls: 'turn:203.0.113.10:7777', ...turnCredentials(token) }] })
 * ```
 *
 * Each message of a client has a MAC under MD5(user name : realm : password). An attacker that does not see the
 * client's datagrams cannot know the user name, which contains a signature, and so cannot forge messages.
 */

import { bytesToText } from '../crypto/token-text.ts'

/** The realm. It is short: the error 401, to a stranger, has it, and must not be twice as long as the question. */
export const TURN_REALM = 'turn'
/** The password. */
export const TURN_PASSWORD = 'tickwire'

/** The credentials for `RTCPeerConnection` from a relay token. */
export function turnCredentials(token: Uint8Array): { readonly username: string; readonly credential: string } {
  return { username: bytesToText(token), credential: TURN_PASSWORD }
}
