import { MemoryNetwork } from '../../packages/tickwire/src/testing/memory-port.ts'
import { describeTransport } from './transport.contract.ts'

describeTransport('[PORT1, PORT2, PORT3, PORT4, PORT5] memory', async () => {
  let now = 0
  const network = new MemoryNetwork(() => now)
  return {
    server: network.server,
    openClient: async () => ({ port: network.openClient(), serverAddress: 'server' }),
    until: async (isDone) => {
      for (; !isDone() && now < 5000; now++) network.deliver()
    },
    close: async () => network.server.close(),
  }
}, true)
