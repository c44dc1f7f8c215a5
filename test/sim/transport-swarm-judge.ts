/** Checks of a world of endpoints: reasons of closes, addresses of connections, and messages that still wait. */

import type { ChannelSpec } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import type { CloseReason } from '../../packages/tickwire/src/core/connection/close-reason.ts'
import type { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { hold } from './invariants.ts'
import type { Party, Talk } from './transport-swarm-party.ts'

/** Only a vandal causes a protocol error. `client`: the client of the session, if it is known. */
export function judgeHonesty(reason: CloseReason, client: Party | undefined): void {
  hold(
    reason.code !== 'broken' || client === undefined || client.role === 'vandal',
    'I16',
    () => `${reason.by} ${reason.code}, and both sides are honest`,
  )
}

/** Clients of a server that shuts down receive that as the reason. */
export function judgeShutdown(reason: CloseReason): void {
  hold(
    reason.by === 'peer' && reason.code === 'shutdown',
    'I16',
    () => `the server shut down, and the peer received ${reason.by} ${reason.code}`,
  )
}

/** A reason that came from the peer is one that the peer sent. `other`: the reason on the other side. */
export function judgeReason(reason: CloseReason, other: CloseReason | undefined): void {
  hold(
    other?.by === 'local' || other?.by === 'peer',
    'I16',
    () => `received ${reason.code}, and the peer ${other === undefined ? 'goes on' : `has ${other.by} ${other.code}`}`,
  )
  hold(
    other?.by !== 'local' || other.code === reason.code,
    'I16',
    () => `received ${reason.code}, and the peer sent ${other?.code}`,
  )
}

/** A connection of the server at an address that its client never had. */
export function movedTalk(server: Party, clients: readonly Party[]): Talk | undefined {
  return server.talks.find(({ connection, session }) => {
    const client = clients.find(({ talks }) => talks.some((talk) => talk.session === session))
    return client !== undefined
      && !client.addresses.has(connection.address)
      && client.node.address !== connection.address
  })
}

/** A server sends only to present or former addresses of its peers. */
export function judgeAddress(moved: Talk | undefined): void {
  hold(
    moved === undefined,
    'I14',
    () => `session ${moved?.session.number} has moved to ${moved?.connection.address}, where its peer never was`,
  )
}

/** Everything that was promised has been received, and the sender knows it. */
export function isDrained({ session, set, connection }: Talk, specs: readonly ChannelSpec[]): boolean {
  if (!connection.isOpen) return true
  if (!session.isDrained) return false
  return specs.every(({ promise }, channel) =>
    (promise !== 'ordered' && promise !== 'unordered') || set.channel(channel).waitingBytes === 0)
}

/** Both sides are open, and the server knows the client's present address. */
export function isConnected(party: Party, server: Party): boolean {
  if (party.role !== 'player') return true
  const talk = party.talks.find(({ connection }) => connection.isOpen)
  return talk !== undefined && server.talks.some(({ session, connection }) =>
    session === talk.session && connection.isOpen && connection.address === party.node.address)
}

/** Every datagram was delivered, dropped for a counted reason, or is in flight. */
export function judgeTally({ tally: { sent, copies, delivered, dropped }, flying }: SimNet): void {
  hold(sent + copies === delivered + dropped + flying, 'crash', () => 'a datagram vanished from the simulated network')
}
