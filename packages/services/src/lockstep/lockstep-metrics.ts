/** The metrics of lockstep matches, read when they are scraped. Nothing in here identifies a player. */

import type { Registry } from 'prom-client'
import type { ServingLockstep } from 'tickwire/node'
import { createRegistry, readCounter, readGauge } from '../telemetry/metrics.ts'
import { VERSION } from '../version.ts'

/** A registry with all metrics of lockstep matches. */
export function lockstepRegistry(serving: ServingLockstep): Registry {
  const { rooms: host } = serving
  const registry = createRegistry('lockstep', VERSION)
  const gauge = (name: string, help: string, read: () => number | object): void =>
    readGauge(registry, { name, help, read })
  gauge('tickwire_lockstep_games', 'Open matches.', () => host.rooms.length)
  gauge('tickwire_lockstep_players', 'Taken and kept seats of players.', () => host.players)
  gauge('tickwire_connections', 'Open connections.', () => host.endpoint.connections.length)
  gauge('tickwire_draining', '1 while new players are refused.', () => (host.isDraining ? 1 : 0))
  gauge('tickwire_lockstep_log_bytes', 'Bytes of the ticks of open matches.',
    () => host.rooms.reduce((sum, { relay }) => sum + relay.log.length, 0))
  gauge('tickwire_lockstep_ticks', 'Closed ticks of open matches.',
    () => host.rooms.reduce((sum, { relay }) => sum + relay.log.newest, 0))
  gauge('tickwire_lockstep_orders', 'Orders of open matches, by what happened.', () => {
    const orders: Record<string, number> = {}
    for (const { relay } of host.rooms)
      for (const [what, value] of Object.entries(relay.counts)) orders[what] = (orders[what] ?? 0) + Number(value)
    return orders
  })
  gauge('tickwire_lockstep_desyncs', 'Desyncs of open matches, by what happened.', () => {
    const desyncs: Record<string, number> = {}
    for (const { judge } of host.rooms)
      for (const [what, value] of Object.entries(judge.counts)) desyncs[what] = (desyncs[what] ?? 0) + Number(value)
    return desyncs
  })
  gauge('tickwire_lockstep_slowest', 'The slowest player of open matches: way up, draw and step in ms, ticks behind.',
    () => {
      const slowest = { up_ms: 0, draw_ms: 0, step_ms: 0, behind_ticks: 0 }
      for (const { relay } of host.rooms) {
        const { upMs, drawMs, stepMs, behindTicks } = relay.state.slowest(relay.log.newest)
        slowest.up_ms = Math.max(slowest.up_ms, upMs)
        slowest.draw_ms = Math.max(slowest.draw_ms, drawMs)
        slowest.step_ms = Math.max(slowest.step_ms, stepMs)
        slowest.behind_ticks = Math.max(slowest.behind_ticks, behindTicks)
      }
      return slowest
    })
  readCounter(registry, {
    name: 'tickwire_lockstep_games_total', help: 'Matches by event.', read: () => host.counts,
  })
  readCounter(registry, {
    name: 'tickwire_joins_total', help: 'Requests for a seat, by result.', label: 'result',
    read: () => host.door.counts,
  })
  readCounter(registry, {
    name: 'tickwire_datagrams_total', help: 'Datagrams of the sockets, by event.', read: () => serving.stats,
  })
  return registry
}
