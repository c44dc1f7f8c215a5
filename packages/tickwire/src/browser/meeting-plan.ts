/** How a page asks a rendezvous for a match. */

import { isLocalHost, parseServerUrl } from '../core/client/server-url.ts'
import type { PathMode } from '../core/nat/candidates.ts'
import { bytesToHex } from '../core/nat/hex.ts'

/** What a page knows about a match that is joined by a code. */
export interface MeetingPlan {
  /** The address of the rendezvous. */
  readonly base: string
  /** Of the game: 16 hexadecimal digits. */
  readonly fingerprint: string
  readonly mode: PathMode
  /** Whether addresses on this machine may be used: the rendezvous is on this machine too. */
  readonly isLocal: boolean
}

/** `rendezvous`: its address, or one that is relative to this page. */
export function meetingPlan(rendezvous: string | URL, mode: PathMode, fingerprint: Uint8Array): MeetingPlan {
  const base = parseServerUrl(String(rendezvous), (text) => new URL(text, location.href), ['https', 'http'])
  return {
    base: new URL('.', base).href, fingerprint: bytesToHex(fingerprint), mode, isLocal: isLocalHost(base.hostname),
  }
}
