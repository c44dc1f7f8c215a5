/** A packet relay for the bench `relay`: it prints nothing, and says by IPC where it listens and what it has open. */

import { readdirSync } from 'node:fs'
import { openRelay } from '../../packages/tickwire/src/node/relay-server.ts'

const relay = await openRelay({
  issuers: [Buffer.from(process.argv[2]!, 'hex')], port: 0, address: '127.0.0.1', relayed: '127.0.0.1',
  quota: { kbitsPerSecond: 60_000_000, packetsPerSecond: 1e7, mebibytes: 60_000 },
})

/** What the process has open. */
export interface RelayReport {
  readonly address: string
  readonly allocations: number
  readonly descriptors: number
}

const report = (): RelayReport => ({
  address: relay.relayed, allocations: relay.relay.allocations, descriptors: readdirSync('/proc/self/fd').length,
})

process.on('message', () => process.send!(report()))
process.send!(report())
