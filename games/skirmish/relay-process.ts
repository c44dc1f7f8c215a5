/** The first relay of a group, as a process of its own (serve-group.ts). It ends with the process that started it. */

import { groupOptions, type RelayOrder } from './serve-group.ts'
import { serveSkirmish } from './serve-skirmish.ts'

process.once('message', (message) => void serve(message as RelayOrder))

async function serve({ ports, identities, settings, folder }: RelayOrder): Promise<void> {
  try {
    const serving = await serveSkirmish({ ...settings, port: ports[0]! }, {
      ...groupOptions(ports, identities, 0), static: folder,
    })
    process.once('disconnect', () => void serving.drain(0).finally(() => process.exit()))
    process.send?.('ready')
  } catch (error) {
    process.send?.(error instanceof Error ? error.message : String(error))
    process.disconnect()
  }
}
