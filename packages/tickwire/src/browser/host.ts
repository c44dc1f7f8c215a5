/**
 * Hosts a match in a page, with one call. Other players join with a code. The match runs in a Worker
 * (`worker/host-worker.ts`), so a hidden page does not stop it.
 *
 * ```ts
 * const worker = () => new Worker(new URL('./host-worker.ts', import.meta.url), { type: 'module' })
 * const hosted = await host(game, { rendezvous: 'https://play.example', worker })
 * const room = await connect(game, hosted)
 * ```
 *
 * When the page is closed, the match is over for all.
 */

import type { PortSource, RelayWorker } from '../core/client/hosted-relay.ts'
import type { HostedMesh } from '../core/client/mesh-code.ts'
import type { MessagePortLike } from '../core/endpoint/message-ports.ts'
import type { Game } from '../core/game/define-game.ts'
import type { LockstepGame } from '../core/lockstep/define-lockstep.ts'
import type { PathMode } from '../core/nat/candidates.ts'
import type { Shape } from '../core/schema/field.ts'
import type { HostChannels } from './host-channels.ts'
import type { HostCommand, HostReport } from './host-messages.ts'
import { openMesh } from './later.ts'
import { meetingPlan } from './meeting-plan.ts'

/** How a page hosts a match. */
export interface HostOptions {
  /** Starts the Worker whose script calls `runHost(game)`. */
  readonly worker: () => RelayWorker
  /** The address of the rendezvous. Default: where this page came from. */
  readonly rendezvous?: string | URL
  /**
   * `race`: guests come by relay at first, directly as soon as that works. `relay-only` hides the address of this
   * machine. `direct-only` uses no relay. Default: `race`.
   */
  readonly path?: PathMode
  /** Whether the code has two words, which is harder to guess. Default: no. */
  readonly strong?: boolean
}

/** How a page hosts a mesh. It needs no Worker: see `HostOptions` for the rest. */
export interface MeshHostOptions extends Omit<HostOptions, 'worker'> {
  /** How many players the mesh has, with this one: 2 or 3. */
  readonly mesh: number
}

/** Hosts a match until `close`. Rejects when the rendezvous does not answer. */
export async function host<I extends Shape>(
  game: Game<I> | LockstepGame, options: HostOptions,
): Promise<HostedMatch>
/** Makes a code for a mesh of 2 or 3 players. This player enters with `mesh(hosted)`, the others with `mesh(code)`. */
export async function host(game: LockstepGame, options: MeshHostOptions): Promise<HostedMesh>
export async function host(
  game: Game | LockstepGame, options: HostOptions | MeshHostOptions,
): Promise<HostedMatch | HostedMesh> {
  const { rendezvous = location.href, path = 'race', strong: isStrong = false } = options
  const plan = meetingPlan(rendezvous, path, game.fingerprint)
  if ('mesh' in options) return await openMesh(plan, game, options.mesh, isStrong)
  const { base, mode, isLocal } = plan
  const { HostChannels: Channels } = await import('./host-channels.ts')
  const hosted = new HostedMatch(options.worker(), Channels)
  await hosted.begin({ name: 'host', base, mode, isStrong, isLocal })
  return hosted
}

/** A match that this page hosts. Players of this page join with `connect(game, hosted)`. */
export class HostedMatch implements PortSource {
  /** What players type: `IRON-7K3M`. */
  code: string = ''
  /** What players open: the page of the game, with the code in it. */
  link: string = ''
  /** How many players are in the match. */
  players: number = 0
  /** Called when the code has changed, because the rendezvous lost it and does not know this host. */
  onCode: (code: string) => void = () => {}
  readonly #worker: RelayWorker
  readonly #channels: HostChannels
  readonly #leave = (event: PageTransitionEvent): void => {
    if (!event.persisted) this.#send({ name: 'close' })
  }
  #settle: (report: HostReport) => void = () => {}

  constructor(worker: RelayWorker, channels: typeof HostChannels) {
    this.#worker = worker
    this.#channels = new channels((command, transfer) => this.#send(command, transfer))
    worker.addEventListener('message', ({ data }) => this.#handle(data as HostReport))
    worker.addEventListener('error', ({ message = '' }) =>
      this.#settle({ name: 'failed', message: `the script of the Worker failed: ${message}` }))
    globalThis.addEventListener('pagehide', this.#leave)
  }

  /** Makes the session. For `host` only. */
  async begin(command: HostCommand): Promise<void> {
    const answered = new Promise<HostReport>((resolve) => { this.#settle = resolve })
    this.#send(command)
    const report = await answered
    if (report.name !== 'failed') return
    this.#worker.terminate()
    throw new Error(report.message)
  }

  /** A way in for a player of this machine. `connect(game, hosted)` calls it. */
  open(): MessagePortLike {
    const { port1, port2 } = new MessageChannel()
    this.#send({ name: 'admit', port: port2 }, [port2])
    return port1
  }

  /** Ends the match, for all players with the reason `host-left`, and the code. */
  async close(): Promise<void> {
    globalThis.removeEventListener('pagehide', this.#leave)
    const closed = new Promise<HostReport>((resolve) => { this.#settle = resolve })
    this.#send({ name: 'close' })
    await closed
    this.#channels.close()
    this.#worker.terminate()
  }

  #handle(report: HostReport): void {
    switch (report.name) {
      case 'hosting': {
        const isNews = this.code !== '' && this.code !== report.code
        this.code = report.code
        this.link = report.link
        this.#settle(report)
        if (isNews) this.onCode(report.code)
        return
      }
      case 'offer': return this.#channels.answer(report)
      case 'send': return this.#channels.send(report.id, report.bytes)
      case 'drop': return this.#channels.drop(report.id)
      case 'players':
        this.players = report.count
        return
      case 'failed': case 'closed': return this.#settle(report)
      default: return report satisfies never
    }
  }

  #send(command: HostCommand, transfer: readonly Transferable[] = []): void {
    this.#worker.postMessage(command, transfer as never[])
  }
}
