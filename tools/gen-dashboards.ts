/**
 * Writes the Grafana dashboards of deploy/grafana from one list of panels: `node --conditions=tickwire-source --import
 * tsx tools/gen-dashboards.ts`. A test compares the files with this list, checks each query with promtool, and looks up
 * each metric in a live scrape.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './typecheck.ts'

/** One graph: a query and its unit, as Grafana names units. */
export interface Panel {
  readonly title: string
  readonly expr: string
  /** The text of a line: `{{what}}`. */
  readonly legend: string
  readonly unit: 'short' | 'pps' | 'bps' | 'bytes' | 's' | 'ops' | 'percentunit'
}

const instance = '{{instance}}'

const HTTP: readonly Panel[] = [
  {
    title: 'Requests, by route', unit: 'ops', legend: '{{route}}',
    expr: 'sum by (route) (rate(tickwire_http_requests_total[1m]))',
  },
  {
    title: 'Requests, by status', unit: 'ops', legend: '{{status}}',
    expr: 'sum by (status) (rate(tickwire_http_requests_total[1m]))',
  },
  {
    title: 'Time of requests, 99th percentile', unit: 's', legend: '{{route}}',
    expr: 'histogram_quantile(0.99, sum by (route, le) (rate(tickwire_http_seconds_bucket[5m])))',
  },
]

const PROCESS: readonly Panel[] = [
  {
    title: 'Processor', unit: 'percentunit', legend: instance,
    expr: 'sum by (instance) (rate(process_cpu_seconds_total[1m]))',
  },
  { title: 'Memory', unit: 'bytes', legend: instance, expr: 'process_resident_memory_bytes' },
]

/** Panels by dashboard. */
export const DASHBOARDS: { readonly [name: string]: readonly Panel[] } = {
  relay: [
    { title: 'Allocations', unit: 'short', legend: instance, expr: 'tickwire_relay_allocations' },
    {
      title: 'Forwarded packets', unit: 'pps', legend: instance,
      expr: 'rate(tickwire_relay_total{what="forwarded"}[1m])',
    },
    {
      title: 'Forwarded bits', unit: 'bps', legend: instance,
      expr: '8 * rate(tickwire_relay_total{what="forwardedBytes"}[1m])',
    },
    {
      title: 'Dropped, by reason', unit: 'pps', legend: '{{what}}',
      expr: 'sum by (what) (rate(tickwire_relay_total{what=~"refused|malformed|limited|forged|unknown|full|unbound|'
        + 'foreign|overQuota"}[1m]))',
    },
    {
      title: 'New and moved peers', unit: 'ops', legend: '{{what}}',
      expr: 'sum by (what) (rate(tickwire_relay_total{what=~"allocated|moved|expired"}[1m]))',
    },
    { title: 'Sockets', unit: 'pps', legend: '{{what}}', expr: 'sum by (what) (rate(tickwire_datagrams_total[1m]))' },
    {
      title: 'WebSocket', unit: 'pps', legend: '{{what}}',
      expr: 'sum by (what) (rate(tickwire_websocket_messages_total[1m]))',
    },
    { title: 'Receive buffer', unit: 'bytes', legend: instance, expr: 'tickwire_relay_receive_buffer_bytes' },
    ...PROCESS,
  ],
  discovery: [
    { title: 'Sessions with a code', unit: 'short', legend: instance, expr: 'tickwire_rendezvous_sessions' },
    { title: 'Signalling sockets', unit: 'short', legend: instance, expr: 'tickwire_rendezvous_members' },
    {
      title: 'Codes, by result', unit: 'ops', legend: '{{result}}',
      expr: 'sum by (result) (rate(tickwire_rendezvous_requests_total[1m]))',
    },
    { title: 'Signals', unit: 'ops', legend: instance, expr: 'rate(tickwire_rendezvous_signals_total[1m])' },
    { title: 'Listings', unit: 'short', legend: instance, expr: 'tickwire_track_listings' },
    {
      title: 'Publishing, by result', unit: 'ops', legend: '{{result}}',
      expr: 'sum by (result) (rate(tickwire_track_requests_total[1m]))',
    },
    {
      title: 'Browsing, by source', unit: 'ops', legend: '{{source}}',
      expr: 'sum by (source) (rate(tickwire_track_browse_total[1m]))',
    },
    { title: 'Expired listings', unit: 'ops', legend: instance, expr: 'rate(tickwire_track_expired_total[1m])' },
    {
      title: 'Tokens, by result', unit: 'ops', legend: '{{result}}',
      expr: 'sum by (result) (rate(tickwire_issue_tokens_total[1m]))',
    },
    { title: 'Game servers', unit: 'short', legend: instance, expr: 'tickwire_fleet_servers' },
    { title: 'Rooms', unit: 'short', legend: instance, expr: 'tickwire_fleet_rooms' },
    { title: 'Players', unit: 'short', legend: instance, expr: 'tickwire_fleet_players' },
    {
      title: 'Seats, by result', unit: 'ops', legend: '{{result}}',
      expr: 'sum by (result) (rate(tickwire_fleet_seats_total[1m]))',
    },
    {
      title: 'Matchmaking', unit: 'ops', legend: '{{event}}',
      expr: 'sum by (event) (rate(tickwire_fleet_matchmaking_total[1m]))',
    },
    ...HTTP,
    ...PROCESS,
  ],
  store: [
    { title: 'Store does not answer', unit: 'short', legend: instance, expr: 'tickwire_store_degraded' },
    {
      title: 'Calls, by result', unit: 'ops', legend: '{{op}} {{result}}',
      expr: 'sum by (op, result) (rate(tickwire_store_calls_total[1m]))',
    },
    {
      title: 'Time of calls, 99th percentile', unit: 's', legend: '{{op}}',
      expr: 'histogram_quantile(0.99, sum by (op, le) (rate(tickwire_store_seconds_bucket[5m])))',
    },
    { title: 'Records that wait for the disk', unit: 'short', legend: instance, expr: 'tickwire_records_waiting' },
    {
      title: 'Records, by result', unit: 'ops', legend: '{{result}}',
      expr: 'sum by (result) (rate(tickwire_records_total[1m]))',
    },
    { title: 'List not confirmed', unit: 'short', legend: instance, expr: 'tickwire_fleet_stale' },
  ],
}

/** The file of a dashboard: two graphs in a row. */
export function dashboardText(name: string): string {
  const panels = (DASHBOARDS[name] ?? []).map(({ title, expr, legend, unit }, at) => ({
    id: at + 1, type: 'timeseries', title,
    gridPos: { x: (at % 2) * 12, y: Math.floor(at / 2) * 8, w: 12, h: 8 },
    datasource: { type: 'prometheus', uid: 'prometheus' },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: [{ refId: 'A', expr, legendFormat: legend }],
  }))
  return `${JSON.stringify({
    uid: `tickwire-${name}`, title: `Tickwire ${name}`, tags: ['tickwire'], schemaVersion: 38, version: 1,
    refresh: '10s', time: { from: 'now-1h', to: 'now' }, panels,
  }, undefined, 2)}\n`
}

/** Where the file of a dashboard is. */
export function dashboardFile(name: string): string {
  return join(ROOT, 'deploy/grafana/dashboards', `${name}.json`)
}

if (process.argv[1]?.endsWith('gen-dashboards.ts'))
  for (const name of Object.keys(DASHBOARDS)) writeFileSync(dashboardFile(name), dashboardText(name))
