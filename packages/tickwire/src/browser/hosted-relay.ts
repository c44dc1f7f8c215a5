/**
 * The relay of a hosted match in a page. It runs in a Worker (`worker/relay-worker.ts`), so a hidden page does not stop
 * it.
 */

import { ConfigError } from '../core/base/assert.ts'
import type { HostedRelay, HostingOptions } from '../core/client/hosted-relay.ts'
import type { LockstepCard } from '../core/order/lockstep-card.ts'
import type { RelayCommand } from './relay-command.ts'

/** A Worker that ends by itself answers within this time. */
const CLOSE_MS = 1000

/** Starts the Worker, and opens the relay of one match in it. */
export async function hostRelay(card: LockstepCard, options: HostingOptions): Promise<HostedRelay> {
  const { worker: start, relay = {}, seed, resumeMs, observers } = options
  if (start === undefined) {
    throw new ConfigError(
      'hosting.worker', 'missing', 'pass worker: () => new Worker(url), of a script that calls runRelay().',
    )
  }
  const worker = start()
  const send = (command: RelayCommand, ports: MessagePort[] = []): void =>
    worker.postMessage(command, ports as never[])
  let settle: (said: unknown) => void = () => {}
  const answer = async (): Promise<unknown> => await new Promise((resolve) => { settle = resolve })
  worker.addEventListener('message', ({ data }) => settle(data))
  worker.addEventListener('error', ({ message = '' }) => settle(`the script of the Worker failed: ${message}`))
  const ready = answer()
  send({ name: 'open', card, rules: { relay, seed, resumeMs, observers } })
  const said = await ready
  if (said !== 'open') {
    worker.terminate()
    throw new ConfigError('hosting.worker', String(said), 'pass a script that calls runRelay() of tickwire/worker.')
  }
  return {
    urls: [],
    invite() {
      const { port1, port2 } = new MessageChannel()
      send({ name: 'admit', port: port2 }, [port2])
      return port1
    },
    async close() {
      const closed = answer()
      setTimeout(() => settle(undefined), CLOSE_MS)
      send({ name: 'close' })
      await closed
      worker.terminate()
    },
  }
}
