/** A relay of the group of the guide, as a process. Arguments: its number, and the ports of all relays. */

import { bestProvider } from 'tickwire/node'
import { serveInGroup } from '../../docs/guide/examples/relay-group.ts'

const [, , number = '0', ...ports] = process.argv
const identityOf = (relay: number): Uint8Array => new Uint8Array(32).fill(relay + 31)
const relays = ports.map((port, relay) => ({
  url: `http://127.0.0.1:${port}`, key: bestProvider().importSigning(identityOf(relay)).publicKey,
}))
await serveInGroup(relays, identityOf(Number(number)), Number(ports[Number(number)]))
console.log('ready')
