/**
 * What a process is in a match. The game does not know, and runs the same `step` everywhere; hosts look here.
 *
 *             authority   view   predicts   talks to others
 *   dedicated    yes       no       no          yes
 *   listen       yes       yes      no          yes           its own player is stepped by the authority itself
 *   local        yes       yes      no          no
 *   client       no        yes      yes         to the authority
 */

import type { PeerId } from '../base/time.ts'

export type RoleName = 'dedicated' | 'listen' | 'local' | 'client'

export interface RoleContext {
  readonly name: RoleName
  readonly isAuthority: boolean
  readonly hasLocalView: boolean
  /** What the authority tells goes through here to others. */
  readonly relaysForPeers: boolean
  readonly predicts: boolean
  /** The authority, as a peer: 0. */
  readonly authorityPeer: PeerId
}

export const ROLES: { readonly [name in RoleName]: RoleContext } = {
  dedicated: { name: 'dedicated', isAuthority: true, hasLocalView: false, relaysForPeers: false, predicts: false, authorityPeer: 0 },
  listen: { name: 'listen', isAuthority: true, hasLocalView: true, relaysForPeers: true, predicts: false, authorityPeer: 0 },
  local: { name: 'local', isAuthority: true, hasLocalView: true, relaysForPeers: false, predicts: false, authorityPeer: 0 },
  client: { name: 'client', isAuthority: false, hasLocalView: true, relaysForPeers: false, predicts: true, authorityPeer: 0 },
}
