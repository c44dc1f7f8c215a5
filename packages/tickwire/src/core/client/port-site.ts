/** A relay at the other end of a MessagePort, as a server that a room is joined at. */

import { MessagePorts } from '../endpoint/message-ports.ts'
import type { PortSource } from './hosted-relay.ts'
import type { ServerSite } from './platform.ts'
import { SingleLink } from './single-link.ts'

export function portSite(ports: PortSource): Omit<ServerSite, 'parts'> {
  return {
    place: 'the relay of this machine',
    // A port that is there needs no retries.
    isLocal: false,
    isSecure: false,
    async open() {
      const port = new MessagePorts()
      const address = port.admit(ports.open())
      return new SingleLink('message-port', port, address, () => Promise.resolve(undefined))
    },
    diagnose: () => Promise.resolve({ kind: 'down' }),
  }
}
