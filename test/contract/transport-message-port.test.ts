import { MessageChannel } from 'node:worker_threads'
import { MessagePorts, type MessagePortLike } from '../../packages/tickwire/src/core/endpoint/message-ports.ts'
import { describeTransport } from './transport.contract.ts'

describeTransport('[PORT1, PORT2, PORT3, PORT4, PORT5] message port', async () => {
  const server = new MessagePorts()
  return {
    server,
    openClient: async () => {
      const { port1, port2 } = new MessageChannel()
      server.admit(port1 as unknown as MessagePortLike)
      const port = new MessagePorts('server:')
      return { port, serverAddress: port.admit(port2 as unknown as MessagePortLike) }
    },
    until: async (isDone) => {
      for (let turn = 0; !isDone() && turn < 500; turn++) await new Promise((resolve) => { setTimeout(resolve, 5) })
    },
    close: async () => server.close(),
  }
}, true)
