/**
 * The role of a process in a match. The game does not know it and runs the same `step` everywhere; the hosts read it.
 *
 *             authority   view   predicts   connections
 *   dedicated    yes       no       no          to clients
 *   listen       yes       yes      no          to clients       its own player is stepped by the authority itself
 *   local        yes       yes      no          none
 *   client       no        yes      yes         to the authority
 */

import type { PeerId } from '../base/time.ts'

/** The role of a process in a match. */
export type RoleName = 'dedicated' | 'listen' | 'local' | 'client'

/** What a role does. */
export interface RoleContext {
  /** The name of the role. */
  readonly name: RoleName
  /** Whether its `step` decides the state of the match. */
  readonly isAuthority: boolean
  /** Whether this process draws the match. */
  readonly hasLocalView: boolean
  /** This process has a player of its own and also sends the authority's state to other players. */
  readonly relaysForPeers: boolean
  /** Whether it steps ahead of the authority. */
  readonly predicts: boolean
  /** The peer id of the authority: 0. */
  readonly authorityPeer: PeerId
}

/** All roles, by name. */
export const ROLES: { readonly [name in RoleName]: RoleContext } = {
  dedicated: {
    name: 'dedicated',
    isAuthority: true,
    hasLocalView: false,
    relaysForPeers: false,
    predicts: false,
    authorityPeer: 0,
  },
  listen: {
    name: 'listen',
    isAuthority: true,
    hasLocalView: true,
    relaysForPeers: true,
    predicts: false,
    authorityPeer: 0,
  },
  local: {
    name: 'local',
    isAuthority: true,
    hasLocalView: true,
    relaysForPeers: false,
    predicts: false,
    authorityPeer: 0,
  },
  client: {
    name: 'client',
    isAuthority: false,
    hasLocalView: true,
    relaysForPeers: false,
    predicts: true,
    authorityPeer: 0,
  },
}
